import type { Child } from '../child/child.ts';
import { type Arena, atLeast, type Contest, cpuMs, perSecond, type Side, type Sides } from '../contest.ts';
import { drive } from '../load/callers.ts';
import { bytesOf } from '../load/connection.ts';
import { signedPayments } from '../payments.ts';
import type { FacilitatorReady } from '../servers/facilitator.ts';
import type { X402Given, X402Ready } from '../servers/x402-hono.ts';

const CALLERS = 64;
const body = JSON.stringify({ model: 'bench/small', messages: [{ role: 'user', content: 'Hello' }] });

/**
 * Cost of one paid call. Chain and hub do nothing and run in the process on both sides; everything else is real. Our side recovers the
 * signature, claims, settles and records in durable group commits, signs a receipt and appends it to the log. The other side checks no
 * signature and stores nothing, so only HTTP and headers remain.
 */
export const paidCallContest: Contest = {
  name: 'paid-call',
  beside: '@x402/hono, a facilitator in process that says yes unseen, no ledger',
  lines: [
    { name: 'paid call, no-op chain and hub, 64 at once', unit: 'calls/s', goal: atLeast(5), of: perSecond },
    { name: 'the same: CPU of one paid call', unit: 'ms', goal: { kind: 'at_most', value: 0.6 }, of: cpuMs },
  ],
  open: arena => against(arena, 'believing'),
};

/** The same comparison, but the other side calls its facilitator over HTTP to verify and to settle, as by default. */
export const callByHttpFacilitator: Contest = {
  name: 'asked-paid-call',
  beside: '@x402/hono as shipped, asking a facilitator that says yes unseen, no ledger',
  lines: [{ name: 'the same, their facilitator asked over HTTP', unit: 'calls/s', goal: atLeast(5), of: perSecond }],
  async open(arena) {
    const { ready } = await arena.stage.start<FacilitatorReady>({ file: 'facilitator' }, arena.closing);
    return against(arena, ready);
  },
};

/** The same comparison, but the other side verifies the signature too. */
export const callVerifiedOnBothSides: Contest = {
  name: 'verified-paid-call',
  beside: "@x402/hono, the official facilitator's code on a no-op chain, no ledger",
  lines: [{ name: 'the same, the signature checked on both sides', unit: 'calls/s', goal: atLeast(5), of: perSecond }],
  open: arena => against(arena, 'verifying'),
};

async function against(
  { stage, closing, seconds, quick }: Arena,
  facilitator: X402Given['facilitator'],
): Promise<Sides> {
  const ours = await stage.gateway();
  const { pay_to } = ours.ready;
  const given: X402Given = { pay_to, facilitator };
  const beside = await stage.start<X402Ready>({ file: 'x402-hono', given }, closing);
  // Warms up both sides, because one round is too short for V8 to compile the code of a call.
  for (const server of [ours, beside]) await paying(server, pay_to, quick ? 0.5 : 1.5).round();
  return { ours: paying(ours, pay_to, seconds), beside: paying(beside, pay_to, seconds) };
}

/** Payments to sign per second of a round, which is more than either side can accept. */
const PER_SECOND_MAX = 2_500;

function paying(server: Child<{ readonly url: string }>, pay_to: `0x${string}`, seconds: number): Side {
  const { url } = server.ready;
  const paid = (payment: string) =>
    bytesOf({
      method: 'POST',
      url: `${url}/v1/chat/completions`,
      headers: { 'payment-signature': payment },
      body,
    });
  return {
    round() {
      const requests = signedPayments(Math.ceil(PER_SECOND_MAX * seconds), pay_to).map(paid);
      return drive({ url, servers: [server], request: () => requests.pop(), seconds, callers: CALLERS, status: 200 });
    },
  };
}
