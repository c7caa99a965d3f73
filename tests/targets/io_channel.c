// I/O devices, each thread's channel to them, and walks over all threads that have one.
#include "thread_internal.h"
#include "probes.h"

#include <stdlib.h>

struct io_device {
	struct io_device *next;
	void *io_device;
	spdk_io_channel_create_cb create_cb;
	spdk_io_channel_destroy_cb destroy_cb;
	size_t ctx_size;
	uint32_t refs;	   // channels
	uint32_t for_each; // walks under way
	bool is_unregistered;
	spdk_msg_fn unregister_cb;
	struct spdk_thread *unregister_thread;
};

struct spdk_io_channel {
	struct spdk_io_channel *next;
	struct spdk_thread *thread;
	struct io_device *dev;
	uint32_t refs;
	uint32_t puts; // put_io_channel messages on their way
	_Alignas(16) unsigned char ctx[];
};

struct spdk_io_channel_iter {
	void *io_device;
	struct io_device *dev;
	struct spdk_io_channel *ch;
	spdk_channel_msg fn;
	void *ctx;
	spdk_channel_for_each_cpl cpl;
	struct spdk_thread *cur, *orig;
	int status;
};

static struct io_device *io_devices; // under thread_list_lock

void spdk_io_device_register(void *io_device, spdk_io_channel_create_cb create_cb,
			     spdk_io_channel_destroy_cb destroy_cb, size_t ctx_size)
{
	struct io_device *dev = must(calloc(1, sizeof(*dev)));
	dev->io_device = io_device;
	dev->create_cb = create_cb;
	dev->destroy_cb = destroy_cb;
	dev->ctx_size = ctx_size;
	pthread_mutex_lock(&thread_list_lock);
	dev->next = io_devices;
	io_devices = dev;
	pthread_mutex_unlock(&thread_list_lock);
}

static void _finish_unregister(void *arg)
{
	struct io_device *dev = arg;
	dev->unregister_cb(dev->io_device);
	free(dev);
}

// Unregistered, and nothing refers to it any more.
static void io_device_free(struct io_device *dev)
{
	if (dev->unregister_cb)
		spdk_thread_send_msg(dev->unregister_thread, _finish_unregister, dev);
	else
		free(dev);
}

void spdk_io_device_unregister(void *io_device, spdk_msg_fn cb)
{
	pthread_mutex_lock(&thread_list_lock);
	struct io_device **at = &io_devices;
	while (*at && (*at)->io_device != io_device)
		at = &(*at)->next;
	struct io_device *dev = *at;
	if (!dev) {
		pthread_mutex_unlock(&thread_list_lock);
		return;
	}
	*at = dev->next;
	dev->is_unregistered = true;
	dev->unregister_cb = cb;
	dev->unregister_thread = spdk_get_thread();
	bool idle = dev->refs == 0 && dev->for_each == 0;
	pthread_mutex_unlock(&thread_list_lock);
	if (idle)
		io_device_free(dev);
}

static struct spdk_io_channel *find_channel(struct spdk_thread *t, const struct io_device *dev)
{
	struct spdk_io_channel *ch = t->channels;
	while (ch && ch->dev != dev)
		ch = ch->next;
	return ch;
}

static struct io_device *find_device(void *io_device)
{
	struct io_device *dev = io_devices;
	while (dev && dev->io_device != io_device)
		dev = dev->next;
	return dev;
}

struct spdk_io_channel *spdk_get_io_channel(void *io_device)
{
	struct spdk_thread *thread = spdk_get_thread();

	pthread_mutex_lock(&thread_list_lock);
	struct io_device *dev = find_device(io_device);
	if (!dev) {
		pthread_mutex_unlock(&thread_list_lock);
		return NULL;
	}
	struct spdk_io_channel *ch = find_channel(thread, dev);
	if (ch) {
		ch->refs++;
		pthread_mutex_unlock(&thread_list_lock);
		return ch;
	}
	dev->refs++;
	pthread_mutex_unlock(&thread_list_lock);

	ch = must(calloc(1, sizeof(*ch) + dev->ctx_size));
	ch->dev = dev;
	ch->thread = thread;
	ch->refs = 1;
	int rc = dev->create_cb(io_device, ch->ctx);

	pthread_mutex_lock(&thread_list_lock);
	if (rc) {
		dev->refs--;
	} else {
		ch->next = thread->channels;
		thread->channels = ch;
	}
	pthread_mutex_unlock(&thread_list_lock);
	if (rc) {
		free(ch);
		return NULL;
	}
	return ch;
}

static void put_io_channel(void *arg)
{
	struct spdk_io_channel *ch = arg;

	pthread_mutex_lock(&thread_list_lock);
	ch->puts--;
	if (ch->refs > 0 || ch->puts > 0) { // somebody took it again meanwhile
		pthread_mutex_unlock(&thread_list_lock);
		return;
	}
	struct spdk_io_channel **at = &ch->thread->channels;
	while (*at != ch)
		at = &(*at)->next;
	*at = ch->next;
	pthread_mutex_unlock(&thread_list_lock);

	struct io_device *dev = ch->dev;
	dev->destroy_cb(dev->io_device, ch->ctx);
	free(ch);

	pthread_mutex_lock(&thread_list_lock);
	bool idle = --dev->refs == 0 && dev->is_unregistered && dev->for_each == 0;
	pthread_mutex_unlock(&thread_list_lock);
	if (idle)
		io_device_free(dev);
}

void spdk_put_io_channel(struct spdk_io_channel *ch)
{
	pthread_mutex_lock(&thread_list_lock);
	bool last = --ch->refs == 0;
	if (last)
		ch->puts++;
	pthread_mutex_unlock(&thread_list_lock);
	if (last)
		spdk_thread_send_msg(ch->thread, put_io_channel, ch);
}

void *spdk_io_channel_get_ctx(struct spdk_io_channel *ch)
{
	return ch->ctx;
}

static void _call_completion(void *arg)
{
	struct spdk_io_channel_iter *i = arg;

	if (i->cpl)
		i->cpl(i, i->status);
	pthread_mutex_lock(&thread_list_lock);
	bool idle =
	    i->dev && --i->dev->for_each == 0 && i->dev->is_unregistered && i->dev->refs == 0;
	pthread_mutex_unlock(&thread_list_lock);
	if (idle)
		io_device_free(i->dev);
	free(i);
}

static void _call_channel(void *arg)
{
	struct spdk_io_channel_iter *i = arg;

	// The channel may have gone since the message was sent.
	pthread_mutex_lock(&thread_list_lock);
	i->ch = find_channel(spdk_get_thread(), i->dev);
	pthread_mutex_unlock(&thread_list_lock);
	if (i->ch)
		i->fn(i);
	else
		spdk_for_each_channel_continue(i, 0);
}

// The next thread that has a channel, from @t on; thread_list_lock held.
static struct spdk_thread *next_thread(struct spdk_thread *t, const struct io_device *dev)
{
	while (t && !find_channel(t, dev))
		t = t->next;
	return t;
}

void spdk_for_each_channel(void *io_device, spdk_channel_msg fn, void *ctx,
			   spdk_channel_for_each_cpl cpl)
{
	struct spdk_io_channel_iter *i = must(calloc(1, sizeof(*i)));
	i->io_device = io_device;
	i->fn = fn;
	i->ctx = ctx;
	i->cpl = cpl;
	i->orig = spdk_get_thread();

	PROBE_LOG("for_each_channel()", log_ptr(io_device), log_ptr(fn));
	pthread_mutex_lock(&thread_list_lock);
	i->dev = find_device(io_device);
	if (i->dev) {
		i->dev->for_each++;
		i->cur = next_thread(thread_list, i->dev);
	}
	pthread_mutex_unlock(&thread_list_lock);
	if (i->cur)
		spdk_thread_send_msg(i->cur, _call_channel, i);
	else
		spdk_thread_send_msg(i->orig, _call_completion, i);
}

void spdk_for_each_channel_continue(struct spdk_io_channel_iter *i, int status)
{
	i->status = status;
	i->ch = NULL;
	struct spdk_thread *t = NULL;
	if (!status) {
		pthread_mutex_lock(&thread_list_lock);
		t = next_thread(i->cur->next, i->dev);
		pthread_mutex_unlock(&thread_list_lock);
	}
	i->cur = t;
	if (t)
		spdk_thread_send_msg(t, _call_channel, i);
	else
		spdk_thread_send_msg(i->orig, _call_completion, i);
}

void *spdk_io_channel_iter_get_io_device(struct spdk_io_channel_iter *i)
{
	return i->io_device;
}

void *spdk_io_channel_iter_get_ctx(struct spdk_io_channel_iter *i)
{
	return i->ctx;
}

struct spdk_io_channel *spdk_io_channel_iter_get_channel(struct spdk_io_channel_iter *i)
{
	return i->ch;
}
