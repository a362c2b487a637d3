import type { IncomingMessage } from 'node:http';
import proxyAddr from '@fastify/proxy-addr';
import { parseAddress } from '../../schema/address-holder.ts';
import type { Trust } from '../config/trusted-proxies.ts';

/** Where a request comes from: as its connection says, or the last proxy that is believed. */
export function clientAddress(request: IncomingMessage, trust: Trust = () => false): string {
  spellForwarded(request);
  const address = proxyAddr(request, trust) || '';
  return parseAddress(address) ?? address;
}

/**
 * Proxies write addresses with ports and in any spelling. Leaves of `X-Forwarded-For` each address in its one spelling, and
 * nothing of what stands before one that is none: the request then counts as the proxy's that wrote it.
 */
export function spellForwarded({ headers }: Pick<IncomingMessage, 'headers'>): void {
  const forwarded = headers['x-forwarded-for'];
  if (forwarded === undefined) return;
  const addresses = String(forwarded)
    .split(',')
    .map(text => parseAddress(text.trim()));
  const known = addresses.slice(addresses.lastIndexOf(null) + 1);
  if (known.length > 0) headers['x-forwarded-for'] = known.join(', ');
  else delete headers['x-forwarded-for'];
}
