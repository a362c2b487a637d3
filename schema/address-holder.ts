import ipaddr from 'ipaddr.js';

/** `[address]:port` of IPv6, or `address:port` of IPv4 (RFC 3986 3.2.2, RFC 7239 6); the port is not asked for. */
const WITH_PORT = /^\[([^\]]+)\](?::\d{1,5})?$|^([\d.]+):\d{1,5}$/;

/**
 * The one spelling of an address: IPv4 with four decimal parts (also where it was written inside an IPv6 address), IPv6
 * in full and in lower case, without port or zone. Null where the text is no address.
 */
export function parseAddress(text: string): string | null {
  const [, inBrackets, beforePort] = WITH_PORT.exec(text) ?? [];
  const address = (inBrackets ?? beforePort ?? text).replace(/%.*$/s, '');
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) return address;
  if (!ipaddr.IPv6.isValid(address)) return null;
  const parsed = ipaddr.IPv6.parse(address);
  return parsed.isIPv4MappedAddress() ? parsed.toIPv4Address().toString() : parsed.toNormalizedString();
}

/** As whom an address is counted: an IPv6 customer has a /64 at least, and with it as many addresses as they like. */
export function holderOf(text: string): string {
  const address = parseAddress(text) ?? text;
  return address.includes(':') ? address.split(':').slice(0, 4).join(':') : address;
}
