// A TLS server and a client of it in one process, with the certificate and key in FILE: tls FILE. For each line with an N that it reads
// the client connects, N times writes 100, 200, 300, 100 ... bytes and reads the answer, which is the same; then a session in memory,
// and "done".
#include <arpa/inet.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int listener;

static void *serve(void *ctx)
{
	char buf[400];
	int fd = accept(listener, NULL, NULL), n;
	SSL *s = SSL_new(ctx);
	SSL_set_fd(s, fd);
	if (SSL_accept(s) == 1)
		while ((n = SSL_read(s, buf, sizeof(buf))) > 0 && SSL_write(s, buf, n) == n)
			;
	SSL_free(s);
	close(fd);
	return NULL;
}

// One end of a session: as many bytes as @size, in one call and back.
static int turn(SSL *s, int size, int has_size)
{
	char buf[400] = "the secret word";
	size_t n;
	if (has_size ? SSL_write_ex(s, buf, (size_t)size, &n) != 1
		     : SSL_write(s, buf, size) != size)
		return 0;
	return has_size ? SSL_read_ex(s, buf, sizeof(buf), &n) == 1 && (int)n == size
			: SSL_read(s, buf, sizeof(buf)) == size;
}

// A session of 77 bytes without sockets, where new sessions likely have the addresses of those that were freed.
static int in_memory(SSL_CTX *server, SSL_CTX *client)
{
	char buf[77] = "";
	SSL *s[2] = {SSL_new(server), SSL_new(client)};
	BIO *up = BIO_new(BIO_s_mem()), *down = BIO_new(BIO_s_mem());
	BIO_up_ref(up);
	BIO_up_ref(down);
	SSL_set_bio(s[0], up, down);
	SSL_set_bio(s[1], down, up);
	SSL_set_accept_state(s[0]);
	SSL_set_connect_state(s[1]);
	for (int i = 1; i < 9; i++)
		SSL_do_handshake(s[i % 2]);
	int is_done = SSL_write(s[1], buf, sizeof(buf)) == sizeof(buf) &&
		      SSL_read(s[0], buf, sizeof(buf)) == sizeof(buf);
	SSL_free(s[0]);
	SSL_free(s[1]);
	return is_done;
}

int main(int argc, char **argv)
{
	SSL_CTX *server = SSL_CTX_new(TLS_server_method()),
		*client = SSL_CTX_new(TLS_client_method());
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);
	char line[32];
	if (argc != 2 || SSL_CTX_use_certificate_file(server, argv[1], SSL_FILETYPE_PEM) != 1 ||
	    SSL_CTX_use_PrivateKey_file(server, argv[1], SSL_FILETYPE_PEM) != 1)
		return 1;
	listener = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&a, sizeof(a)) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&a, &len))
		return 1;
	while (fgets(line, sizeof(line), stdin)) {
		pthread_t t;
		int fd = socket(AF_INET, SOCK_STREAM, 0);
		pthread_create(&t, NULL, serve, server);
		SSL *s = SSL_new(client);
		if (connect(fd, (struct sockaddr *)&a, sizeof(a)) || !SSL_set_fd(s, fd) ||
		    SSL_connect(s) != 1)
			return 1;
		for (int i = 0; i < atoi(line); i++)
			if (!turn(s, 100 * (i % 3 + 1), i % 3 == 1))
				return 1;
		SSL_shutdown(s);
		SSL_free(s);
		close(fd);
		pthread_join(t, NULL);
		if (!in_memory(server, client))
			return 1;
		printf("port %d\ndone\n", ntohs(a.sin_port));
		fflush(stdout);
	}
}
