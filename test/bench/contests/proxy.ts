import { type Child, measured } from '../child/child.ts';
import type { Arena, Contest, Line, Measured, Side } from '../contest.ts';
import { drive } from '../load/callers.ts';
import { bytesOf } from '../load/connection.ts';
import { type AnswerPart, addedLatency, type RequestTarget } from '../load/latency.ts';
import { signedPayments } from '../payments.ts';
import type { GatewayReady } from '../servers/gateway.ts';
import type { HubReady } from '../servers/hub.ts';
import type { PortkeyReady } from '../servers/portkey.ts';
import { LIVE_KEY } from '../stage.ts';

/*
 * Latency that a proxy adds to the answer of a hub that responds at once, for one caller. The other side passes the answer on and stores
 * nothing. Our side records it in the ledger and the log and signs a receipt before it delivers the answer.
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

interface ProxyContest extends Pick<Contest, 'name' | 'lines'> {
  readonly means: 'payment' | 'key';
  readonly awaited: AnswerPart;
}

function line(name: string, count: 'added_ms' | 'passing_on_ms'): Line {
  const of = ({ counts }: Measured) => counts[count] ?? Number.NaN;
  return { name, unit: 'ms', goal: { kind: 'times_at_most', factor: 1 / 3 }, of };
}

function proxy({ means, awaited, ...told }: ProxyContest): Contest {
  return {
    ...told,
    beside: '@portkey-ai/gateway, nothing kept',
    async open({ stage, closing, seconds, quick }) {
      const hub = await stage.hub();
      const ours = await stage.proxy();
      const beside = await stage.start<PortkeyReady>({ file: 'portkey' }, closing);
      const sides = [
        { server: ours, headersOf: shown(ours, means, seconds) },
        { server: beside, headersOf: portkey(hub) },
      ] as const;
      // Warms up both sides, because one caller makes too few calls for V8 to compile the code of a call.
      for (const one of sides) await warmUp(one, awaited, quick ? 0.5 : 2);
      const [own, other] = sides.map(one => side({ hub, awaited, seconds }, one));
      return { ours: own ?? null, beside: other ?? null };
    },
  };
}

interface ProxyMeasurement extends Pick<ProxyContest, 'awaited'>, Pick<Arena, 'seconds'> {
  readonly hub: Child<HubReady>;
}

/** Returns the headers of the next request. Payments are signed before the round, and each is used once. */
type Headers = () => Readonly<Record<string, string>>;

interface Through {
  readonly server: Child<{ url: string }>;
  readonly headersOf: () => Headers;
}

function wayTo(base_url: string, headers: Headers, awaited: AnswerPart): RequestTarget {
  const body = JSON.stringify({
    model: 'bench/small',
    messages: [{ role: 'user', content: 'Hello' }],
    stream: awaited === 'first',
  });
  return {
    url: base_url,
    request: () => bytesOf({ method: 'POST', url: `${base_url}/chat/completions`, headers: headers(), body }),
  };
}

const CALLERS_WARMING_UP = 16;

async function warmUp({ server, headersOf }: Through, awaited: AnswerPart, seconds: number): Promise<void> {
  const way = wayTo(`${server.ready.url}/v1`, headersOf(), awaited);
  await drive({ ...way, servers: [server], seconds, callers: CALLERS_WARMING_UP, status: 200 });
}

function side({ hub, awaited, seconds }: ProxyMeasurement, { server, headersOf }: Through): Side {
  const straight = wayTo(hub.ready.base_url, () => ({}), awaited);
  return {
    async round() {
      const through = wayTo(`${server.ready.url}/v1`, headersOf(), awaited);
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

function shown({ ready }: Child<GatewayReady>, means: ProxyContest['means'], seconds: number): () => Headers {
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
