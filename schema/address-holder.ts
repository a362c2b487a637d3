import { parseAddress } from './ip-address.ts';

/** As whom an address is counted: an IPv6 customer has a /64 at least, and with it as many addresses as they like. */
export function holderOf(text: string): string {
  const address = parseAddress(text) ?? text;
  return address.includes(':') ? address.split(':').slice(0, 4).join(':') : address;
}
