/* SPDX-License-Identifier: GPL-2.0-only */
/* early never comes to main(): its library runs before, called by the dynamic loader. */
int early_never(void);

int main(void)
{
	return early_never();
}
