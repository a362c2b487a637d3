import type { IncomingMessage } from 'node:http';
import proxyAddr from '@fastify/proxy-addr';
import { parseAddress } from '../../schema/address-holder.ts';
import type { Trust } from '../config/forms.ts';

/** Proxies that one request passes; more are written by whoever wants to keep this process busy. */
const HOPS_MAX = 32;

/** Where a request comes from: as its connection says, or the last proxy that is believed. */
export function clientAddress(request: IncomingMessage, trust: Trust = () => false): string {
  spellForwarded(request, trust);
  const address = proxyAddr(request, trust) || '';
  return parseAddress(address) ?? address;
}

/**
 * Proxies write addresses with ports and in any spelling. Leaves of `X-Forwarded-For` what believed ones have written, each
 * address in its one spelling, and nothing of what stands before one that is none: the request then counts as the proxy's that
 * wrote it. From the right, and no further than it is believed, because whatever stands before that may be anybody's.
 */
export function spellForwarded({ headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>, trust: Trust): void {
  const forwarded = headers['x-forwarded-for'];
  if (forwarded === undefined) return;
  const text = String(forwarded);
  const known: string[] = [];
  let believed = trust(socket.remoteAddress ?? '', 0);
  for (let end = text.length; believed && end >= 0 && known.length < HOPS_MAX; ) {
    const comma = end === 0 ? -1 : text.lastIndexOf(',', end - 1);
    const address = parseAddress(text.slice(comma + 1, end).trim());
    if (address === null) break;
    known.unshift(address);
    believed = trust(address, known.length);
    end = comma;
  }
  if (known.length > 0) headers['x-forwarded-for'] = known.join(', ');
  else delete headers['x-forwarded-for'];
}
