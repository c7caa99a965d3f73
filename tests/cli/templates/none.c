// No probes.
int main(void)
{
	return 0;
}
