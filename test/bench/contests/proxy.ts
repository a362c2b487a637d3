import { type Child, measured } from '../child/child.ts';
import type { Arena, Contest, Line, Measured, Side } from '../contest.ts';
import { bytesOf } from '../load/connection.ts';
import { type Awaited, addedLatency } from '../load/latency.ts';
import { signedPayments } from '../payments.ts';
import type { GatewayReady } from '../servers/gateway.ts';
import type { HubReady } from '../servers/hub.ts';
import type { PortkeyReady } from '../servers/portkey.ts';
import { LIVE_KEY } from '../stage.ts';

/*
 * What a proxy adds to the answer of one hub that has it ready, for one caller. Theirs passes it on and keeps nothing;
 * ours writes it into the ledger and the log, and signs a receipt for it, before it is given out.
 */
export const proxyByPayment = proxy({
  name: 'proxy',
  means: 'payment',
  awaited: 'whole',
  lines: [
    line('latency added to the answer of a hub, one caller, paid by x402', 'added_ms'),
    line('the same without its verify, claim, settle and record', 'passing_on_ms'),
  ],
});
export const proxyByKey = proxy({
  name: 'key-proxy',
  means: 'key',
  awaited: 'whole',
  lines: [line('latency added to the answer of a hub, one caller, by an API key', 'added_ms')],
});
export const streamByPayment = proxy({
  name: 'stream-proxy',
  means: 'payment',
  awaited: 'first',
  lines: [line('time added to the first byte of a stream, one caller, paid by x402', 'added_ms')],
});

interface Told extends Pick<Contest, 'name' | 'lines'> {
  readonly means: 'payment' | 'key';
  readonly awaited: Awaited;
}

function line(name: string, count: 'added_ms' | 'passing_on_ms'): Line {
  const of = ({ counts }: Measured) => counts[count] ?? Number.NaN;
  return { name, unit: 'ms', goal: { kind: 'times_at_most', factor: 1 / 3 }, of };
}

function proxy({ means, awaited, ...told }: Told): Contest {
  return {
    ...told,
    beside: '@portkey-ai/gateway, nothing kept',
    async open({ stage, closing, seconds }) {
      const hub = await stage.hub();
      const ours = await stage.proxy();
      const beside = await stage.start<PortkeyReady>({ file: 'portkey' }, closing);
      const asked = { hub, awaited, seconds };
      return { ours: side(asked, ours, shown(ours, means, seconds)), beside: side(asked, beside, portkey(hub)) };
    },
  };
}

interface Asked extends Pick<Told, 'awaited'>, Pick<Arena, 'seconds'> {
  readonly hub: Child<HubReady>;
}

/** Of the next request; payments are used up, one after the other, and signed before the round. */
type Headers = () => Readonly<Record<string, string>>;

function side({ hub, awaited, seconds }: Asked, server: Child<{ url: string }>, headersOf: () => Headers): Side {
  const body = JSON.stringify({
    model: 'bench/small',
    messages: [{ role: 'user', content: 'Hello' }],
    stream: awaited === 'first',
  });
  const way = (base_url: string, headers: Headers) => ({
    url: base_url,
    request: () => bytesOf({ method: 'POST', url: `${base_url}/chat/completions`, headers: headers(), body }),
  });
  const straight = way(hub.ready.base_url, () => ({}));
  return {
    async round() {
      const through = way(`${server.ready.url}/v1`, headersOf());
      let counts: Measured['counts'] = {};
      const taken = await measured([server], async () => {
        const { calls, ...added } = await addedLatency(straight, through, awaited, seconds);
        counts = { ...added };
        return calls;
      });
      return { ...taken, counts };
    },
  };
}

const PAYMENTS_PER_SECOND_MAX = 500;

function shown({ ready }: Child<GatewayReady>, means: Told['means'], seconds: number): () => Headers {
  if (means === 'key') return () => () => ({ authorization: `Bearer ${LIVE_KEY}` });
  return () => {
    const payments = signedPayments(Math.ceil(PAYMENTS_PER_SECOND_MAX * seconds), ready.pay_to);
    return () => ({ 'payment-signature': payments.pop() ?? '' });
  };
}

function portkey({ ready }: Child<HubReady>): () => Headers {
  const headers = {
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': ready.base_url,
    authorization: 'Bearer k',
  };
  return () => () => headers;
}
