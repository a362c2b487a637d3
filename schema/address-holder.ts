import ipaddr from 'ipaddr.js';

/** The longest is IPv6 in brackets, holding an IPv4 address, with a zone and a port. */
const CHARS_MAX = 80;
/** `[address]:port` of IPv6, or `address:port` of IPv4 (RFC 3986 3.2.2, RFC 7239 6); the port is not asked for. */
const WITH_PORT = /^\[([^\]]+)\](?::\d{1,5})?$|^([\d.]+):\d{1,5}$/;

/**
 * The one spelling of an address: IPv4 with four decimal parts (also where it was written inside an IPv6 address), IPv6
 * in full and in lower case, without port or zone. Null where the text is no address.
 */
export function parseAddress(text: string): string | null {
  if (text === '' || text.length > CHARS_MAX) return null;
  const [, inBrackets, beforePort] = WITH_PORT.exec(text) ?? [];
  const address = (inBrackets ?? beforePort ?? text).replace(/%.*$/s, '');
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) return address;
  if (!ipaddr.IPv6.isValid(address)) return null;
  const parsed = ipaddr.IPv6.parse(address);
  if (parsed.isIPv4MappedAddress()) return parsed.toIPv4Address().toString();
  // NAT64 (RFC 6052 2.1) writes the whole of the old internet into one /64.
  return parsed.range() === 'rfc6052' ? ipv4At(parsed.parts.slice(6)) : parsed.toNormalizedString();
}

function ipv4At(parts: readonly number[]): string {
  return parts.flatMap(part => [part >> 8, part & 0xff]).join('.');
}

/** As whom an address is counted: an IPv6 customer has a /64 at least, and with it as many addresses as they like. */
export function holderOf(text: string): string {
  const address = parseAddress(text) ?? text;
  return address.includes(':') ? address.split(':').slice(0, 4).join(':') : address;
}
