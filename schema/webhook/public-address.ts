import ipaddr from 'ipaddr.js';

/** The block of which all public IPv6 addresses are (RFC 4291 2.4, IANA's registry): no form that holds an IPv4 address is. */
const GLOBAL_UNICAST = ipaddr.IPv6.parse('2000::');
const GLOBAL_UNICAST_BITS = 3;

/**
 * Whether an address is of somebody on the public internet: neither private, loopback, link-local, shared (100.64/10),
 * multicast, reserved nor one that holds another (mapped, NAT64, 6to4, Teredo). What cannot be read is not.
 */
export function isPublicAddress(address: string): boolean {
  // As a resolver spells it: no zone, no number in other clothes.
  if (!ipaddr.IPv4.isValidFourPartDecimal(address) && !ipaddr.IPv6.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  return parsed instanceof ipaddr.IPv4 || parsed.match(GLOBAL_UNICAST, GLOBAL_UNICAST_BITS);
}
