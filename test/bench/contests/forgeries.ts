import { type Child, measured } from '../child/child.ts';
import { type Arena, atMost, type Contest, cpuMs, type Side, type Sides } from '../contest.ts';
import { forgedPayments } from '../forgeries.ts';
import { drive } from '../load/callers.ts';
import { bytesOf, Connection } from '../load/connection.ts';
import { signedPayments } from '../payments.ts';
import type { FloodOptions } from '../servers/flood.ts';
import type { GatewayReady } from '../servers/gateway.ts';

/** Number of callers on either side. Each has a different address, so that none sends enough forged payments for its 402 to be delayed. */
const CALLERS = 128;
const FORGERIES = 2_000;
/** Number of wallets in whose name payments are forged. */
const NAMED = 200;
const CONNECTIONS = 200;
const READERS = 50;
const body = JSON.stringify({ model: 'bench/small', messages: [{ role: 'user', content: 'Hello' }] });

/** An address for each caller. All of 127.0.0.0/8 is this machine (RFC 1122 section 3.2.1.3), and Linux needs no configuration for it. */
const ownAddress = (caller: number) => `127.0.1.${caller + 1}`;

const chat = (url: string, payment?: string) =>
  bytesOf({
    method: 'POST',
    url: `${url}/v1/chat/completions`,
    headers: payment === undefined ? {} : { 'payment-signature': payment },
    body,
  });

/**
 * Cost of refusing a payment that was forged in another wallet's name, compared with refusing a call without payment. Neither costs its
 * sender anything.
 */
export const forgedPayment: Contest = {
  name: 'forged',
  beside: 'an unpaid call, of the same service',
  lines: [{ name: 'forged payment, each another: CPU of its 402', unit: 'ms', goal: atMost(2), of: cpuMs }],
  open: arena => refusing(arena, FORGERIES),
};

/** Cost of refusing the same forged payment repeatedly. */
export const repeatedForgery: Contest = {
  name: 'again-forged',
  beside: 'an unpaid call, of the same service',
  lines: [{ name: 'the same, one forged payment over and over', unit: 'ms', goal: atMost(2), of: cpuMs }],
  open: arena => refusing(arena, 1),
};

async function refusing({ stage, seconds }: Arena, count: number): Promise<Sides> {
  const gateway = await stage.gateway();
  const { url, pay_to } = gateway.ready;
  const asking = (requests: readonly Buffer[]): Side => {
    let next = 0;
    const request = () => requests[next++ % requests.length];
    const load = { url, servers: [gateway], request, seconds, callers: CALLERS, status: 402, addressOf: ownAddress };
    return { round: () => drive(load) };
  };
  const forgeries = forgedPayments(count, Math.min(count, NAMED), pay_to).map(payment => chat(url, payment));
  return { ours: asking(forgeries), beside: asking([chat(url)]) };
}

const waits = (name: string) =>
  ({
    name,
    unit: 'ms',
    goal: atMost(2),
    of: ({ counts }) => counts.p50_ms ?? Number.NaN,
  }) as const satisfies Contest['lines'][number];

/** Latency of a paying caller while that many other connections send only forged payments. */
export const loadUnderForgeries: Contest = {
  name: 'besieged',
  beside: 'the same caller alone',
  lines: [waits(`one paying caller beside ${CONNECTIONS} connections of forged payments: p50`)],
  open: arena =>
    besideFlood(arena, { connections: CONNECTIONS, status: 402 }, async ({ url, pay_to }) =>
      forgedPayments(FORGERIES, NAMED, pay_to).map(payment => chat(url, payment)),
    ),
};

/**
 * Latency of a paying caller while these connections send calls without payment, as every buyer does first. No flood can cost a paying
 * caller less.
 */
export const loadUnderConnections: Contest = {
  name: 'crowded',
  beside: 'the same caller alone',
  lines: [waits(`the same beside ${CONNECTIONS} connections of unpaid calls, which nothing limits`)],
  open: arena => besideFlood(arena, { connections: CONNECTIONS, status: 402 }, async ({ url }) => [chat(url)]),
};

/** Latency while readers ask for the largest answer that is free, a megabyte each. */
export const loadUnderOpenapi: Contest = {
  name: 'crowded-openapi',
  beside: 'the same caller alone',
  lines: [waits(`the same beside ${READERS} readers of GET /openapi.json`)],
  open: arena =>
    besideFlood(arena, { connections: READERS, status: 200 }, async ({ url }) => [
      bytesOf({ method: 'GET', url: `${url}/openapi.json` }),
    ]),
};

/** Latency while readers ask for pages of a book, each of which queries the database. */
export const loadUnderPages: Contest = {
  name: 'crowded-pages',
  beside: 'the same caller alone',
  lines: [waits(`the same beside ${READERS} readers of book pages of 50 rows`)],
  open: arena =>
    besideFlood(arena, { connections: READERS, status: 200 }, async ({ url }) => {
      const { agent_id, session } = await arena.stage.book();
      const page = `${url}/v1/agents/${agent_id}/book?limit=50`;
      return [bytesOf({ method: 'GET', url: page, headers: { 'x-svc-session': session } })];
    }),
};

async function besideFlood(
  { stage, closing, seconds }: Arena,
  crowd: Omit<FloodOptions, 'url'>,
  requestsOf: (ready: GatewayReady) => Promise<readonly Buffer[]>,
): Promise<Sides> {
  const gateway = await stage.gateway();
  const requests = (await requestsOf(gateway.ready)).map(request => request.toString('base64'));
  const given: FloodOptions = { url: gateway.ready.url, ...crowd };
  const flood = await stage.start({ file: 'flood', given }, closing);
  const start_and_stop = { begin: () => flood.ask('begin', requests), end: () => flood.ask<number>('end') };
  return { ours: paying(gateway, seconds, start_and_stop), beside: paying(gateway, seconds, null) };
}

/** Load by many connections that runs while one caller pays for call after call. */
interface Flood {
  begin(): Promise<void>;
  end(): Promise<number>;
}

function paying(server: Child<GatewayReady>, seconds: number, flood: Flood | null): Side {
  const { url, pay_to } = server.ready;
  return {
    async round() {
      const requests = signedPayments(Math.ceil(300 * seconds), pay_to).map(payment => chat(url, payment));
      await flood?.begin();
      let taken_ms: number[] = [];
      const whole = await measured([server], async () => {
        taken_ms = await timed(url, requests, seconds);
        return taken_ms.length;
      });
      const answered = (await flood?.end()) ?? 0;
      const p50_ms = taken_ms.sort((a, b) => a - b)[taken_ms.length >> 1] ?? Number.NaN;
      return { ...whole, counts: { p50_ms, answered } };
    },
  };
}

async function timed(url: string, requests: readonly Buffer[], seconds: number): Promise<number[]> {
  const taken_ms: number[] = [];
  const connection = await Connection.open(url);
  try {
    const until_ms = performance.now() + seconds * 1_000;
    for (const request of requests) {
      const began_ms = performance.now();
      if (began_ms >= until_ms) break;
      const { status, body: text } = await connection.exchange(request);
      if (status !== 200) throw new Error(`answered ${status}: ${text}`);
      taken_ms.push(performance.now() - began_ms);
    }
    return taken_ms;
  } finally {
    connection.close();
  }
}
