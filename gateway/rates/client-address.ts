import type { IncomingMessage } from 'node:http';
import proxyAddr from '@fastify/proxy-addr';
import type { Trust } from '../config/trusted-proxies.ts';

/** Where a request comes from: as its connection says, or the last proxy that is believed. */
export function clientAddress(request: IncomingMessage, trust: Trust = () => false): string {
  return proxyAddr(request, trust) || '';
}
