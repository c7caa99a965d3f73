// A program under test for right scripts: orders that are placed, filled and cancelled, with the plain macros of <sys/sdt.h>.
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/sdt.h>

enum side { BUY, SELL };
enum status { STATUS_NEW, STATUS_OPEN, STATUS_FILLED, STATUS_REJECTED = -1 };

struct account {
	uint32_t id;
	char owner[24];
	int64_t balance; // in cents, may be negative
	const char *mail;
};

struct order {
	uint64_t id;
	struct account *account;
	enum side side;
	enum status status;
	int32_t change; // of the price, may be negative
	uint16_t pieces;
	int8_t priority;
	bool urgent;
	unsigned kind : 3, hidden : 1;
	int step : 4;
	char symbol[12];
	double price;
	struct order *next;
	int (*done)(struct order *order);
	uint32_t history[4];
};

__attribute__((noinline)) int order_done(struct order *order)
{
	order->status = STATUS_FILLED;
	return -(int)order->pieces;
}

__attribute__((noinline)) int order_place(struct order *order, const char *why, int delta)
{
	DTRACE_PROBE(orders, tick);
	DTRACE_PROBE4(orders, placed, order, order->symbol, order->side, order->pieces);
	DTRACE_PROBE3(orders, moved, order->id, delta, why);
	DTRACE_PROBE2(orders, status, order, order->status);
	DTRACE_PROBE2(orders, done, order->done, order->account);
	return order->done ? order->done(order) : 0;
}

__attribute__((noinline)) long account_book(struct account *account, int64_t cents, uint8_t flags)
{
	account->balance += cents;
	DTRACE_PROBE4(orders, booked, account->id, cents, flags, account->owner);
	return account->balance;
}

__attribute__((noinline)) void send_line(void *data, size_t n, uint32_t address, uintptr_t cookie, char **words)
{
	DTRACE_PROBE5(orders, sent, data, n, address, cookie, words);
}

__attribute__((noinline)) void limits(int8_t small, uint8_t byte, uint16_t port, bool on, unsigned char letter)
{
	DTRACE_PROBE5(orders, limits, small, byte, port, on, letter);
}

int main(void)
{
	char line[64];
	struct account account = {.id = 7, .owner = "ann", .mail = "ann@example.org"};
	struct order order = {.account = &account, .done = order_done, .pieces = 3, .price = 1.5, .step = -1};

	strcpy(order.symbol, "ABC");
	puts("ready");
	while (fgets(line, sizeof(line), stdin)) {
		order.id++;
		order_place(&order, line, -(int)order.id);
		account_book(&account, -150, 5);
		send_line(line, strlen(line), 0x0100007f, (uintptr_t)&order, (char *[]){order.symbol, NULL});
		limits(-1, 255, 4420, order.urgent, 'x');
	}
	return 0;
}
