#ifndef TILL_H
#define TILL_H

enum payment { CASH, CARD, VOUCHER };

struct sale {
	unsigned number;
	enum payment payment;
	unsigned cents;
	char item[16];
};

void till_sell(const struct sale *sale);
unsigned till_total(void); /* cents */

#endif
