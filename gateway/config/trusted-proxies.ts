import proxyAddr from '@fastify/proxy-addr';

/** Whether the `X-Forwarded-For` of whoever connects from that address is believed. */
export type Trust = (address: string, hops: number) => boolean;

/** `proxies`: addresses, networks (CIDR) or proxy-addr's names of them, such as `loopback`. @throws where one is none of these. */
export function trusting(proxies: readonly string[]): Trust {
  return proxyAddr.compile([...proxies]);
}
