/* What ./configure --with-usdt writes. */
#ifndef SPDK_CONFIG_H
#define SPDK_CONFIG_H
#define SPDK_CONFIG_USDT 1
#endif
