import type { IncomingMessage } from 'node:http';
import proxyAddr from '@fastify/proxy-addr';
import { parseAddress } from '../../schema/address-holder.ts';
import type { Trust } from '../config/forms.ts';

/** Maximum number of proxies that one request may pass. A client could otherwise write a long list to keep this process busy. */
const HOPS_MAX = 32;

/** Address of the client, taken from the connection or from the last trusted proxy. */
export function clientAddress(request: IncomingMessage, trust: Trust = () => false): string {
  spellForwarded(request, trust);
  const address = proxyAddr(request, trust) || '';
  return parseAddress(address) ?? address;
}

/**
 * Reduces `X-Forwarded-For` to the entries that trusted proxies wrote. It normalizes them, because proxies write addresses with
 * ports and in any spelling. It reads from the right and stops at the first entry that is invalid or that an untrusted sender
 * wrote, because a client can write anything before such an entry. The request then counts for the proxy that wrote the entry.
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
