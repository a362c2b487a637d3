import ipaddr from 'ipaddr.js';

/** The longest form is IPv6 in brackets with an embedded IPv4 address, a zone and a port. */
const CHARS_MAX = 80;
/** Matches `[address]:port` of IPv6 and `address:port` of IPv4 (RFC 3986 3.2.2, RFC 7239 6); the port is ignored. */
const WITH_PORT = /^\[([^\]]+)\](?::\d{1,5})?$|^([\d.]+):\d{1,5}$/;

/**
 * Normalizes an address: IPv4 as four decimal parts (also if it is embedded in IPv6), IPv6 in full and in lower case, without port or zone.
 * Null if the text is not an address.
 */
export function parseAddress(text: string): string | null {
  if (text === '' || text.length > CHARS_MAX) return null;
  const [, inBrackets, beforePort] = WITH_PORT.exec(text) ?? [];
  const address = (inBrackets ?? beforePort ?? text).replace(/%.*$/s, '');
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) return address;
  if (!ipaddr.IPv6.isValid(address)) return null;
  const parsed = ipaddr.IPv6.parse(address);
  if (parsed.isIPv4MappedAddress()) return parsed.toIPv4Address().toString();
  // NAT64 (RFC 6052 2.1) maps all IPv4 addresses to one /64.
  return parsed.range() === 'rfc6052' ? ipv4At(parsed.parts.slice(6)) : parsed.toNormalizedString();
}

function ipv4At(parts: readonly number[]): string {
  return parts.flatMap(part => [part >> 8, part & 0xff]).join('.');
}

/** The key by which an address is counted. For IPv6 it is the /64, because each customer has at least one and can use any address in it. */
export function holderOf(text: string): string {
  const address = parseAddress(text) ?? text;
  return address.includes(':') ? address.split(':').slice(0, 4).join(':') : address;
}
