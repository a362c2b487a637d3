import ipaddr from 'ipaddr.js';

/** The block of all public IPv6 addresses (RFC 4291 2.4, IANA registry). No form that embeds an IPv4 address is in it. */
const GLOBAL_UNICAST = ipaddr.IPv6.parse('2000::');
const GLOBAL_UNICAST_BITS = 3;

/**
 * Whether an address is on the public internet: not private, loopback, link-local, shared (100.64/10), multicast or reserved, and
 * not one that embeds another (mapped, NAT64, 6to4, Teredo). False for unreadable text.
 */
export function isPublicAddress(address: string): boolean {
  // Accepts only the spelling of a resolver: no zone, and no alternative number format.
  if (!ipaddr.IPv4.isValidFourPartDecimal(address) && !ipaddr.IPv6.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  return parsed instanceof ipaddr.IPv4 || parsed.match(GLOBAL_UNICAST, GLOBAL_UNICAST_BITS);
}
