/** As whom an address is counted: an IPv6 customer has a /64 at least, and with it as many addresses as they like. */
export function holderOf(address: string): string {
  if (!address.includes(':') || address.includes('.')) return address.replace(/^::ffff:/i, '');
  const [head = '', tail] = address.split('::');
  const groups = head.split(':').filter(Boolean);
  const after = tail === undefined ? [] : tail.split(':').filter(Boolean);
  const whole = [...groups, ...Array.from({ length: 8 - groups.length - after.length }, () => '0'), ...after];
  return whole.slice(0, 4).join(':');
}
