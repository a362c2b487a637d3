import { randomBytes } from 'node:crypto';
import { decodePaymentResponseHeader } from '@x402/core/http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  auditArrivals,
  type FacilitatorService,
  openFacilitatorService,
  settledAnswerTo,
} from '../../../harness/facilitator/open-service.ts';
import { type FacilitatorBehaviour, type FacilitatorReply, honest } from '../../../harness/facilitator.ts';
import { jwsOf, nameOf, newBuyer, type Order, send } from '../../../harness/faults/buyer.ts';
import type { RunningService } from '../../../harness/worker-gateway.ts';

/* A facilitator that gives no information: whatever it did, only the chain decides, and no payer is charged twice. */

let service: FacilitatorService;
let gateway: RunningService;

beforeAll(async () => {
  service = await openFacilitatorService();
  gateway = await service.startTimingOutFast();
});

afterAll(async () => {
  await auditArrivals(service);
});

const nonsense = `0x${randomBytes(32).toString('hex')}`;
const hundred_megabytes = 100 * 1024 * 1024;

/** An order from a new wallet, so that its transfers can be counted. */
async function order(prompt: string): Promise<Order> {
  return (await newBuyer(service.ground)).chat(prompt);
}

const unsaid: readonly [what: string, says: FacilitatorReply][] = [
  ['never answers', { kind: 'nothing' }],
  ['drops the connection', { kind: 'hang_up' }],
  ['answers 500', { kind: 'status', status: 500 }],
  ['answers 500 to say no', { kind: 'failure', reason: 'unexpected_settle_error', status: 500 }],
  ['answers 301', { kind: 'status', status: 301 }],
  ['answers 404', { kind: 'status', status: 404 }],
  ['answers what is no JSON', { kind: 'text', text: '<html>' }],
  ['answers another shape', { kind: 'text', text: '{"success":"yes"}' }],
  [
    'speaks of another network',
    { kind: 'text', text: `{"success":true,"transaction":"${nonsense}","network":"eip155:1"}` },
  ],
  ['answers 100 MB', { kind: 'flood', bytes: hundred_megabytes }],
  ['says success without a transaction', { kind: 'success', transaction: '' }],
  ['says that its transaction failed', { kind: 'failure', reason: 'transaction_failed' }],
  ['says that it is pending', { kind: 'failure', reason: 'settlement_pending', transaction: nonsense }],
];

describe('a facilitator that has settled', () => {
  it.each(unsaid)('200 where it %s: the chain says so', async (what, says) => {
    const paid = await order(`${what}, and has settled`);
    service.facilitator.behave({ settles: true, reply: says });
    const answer = await settledAnswerTo(gateway, paid);
    expect(jwsOf(await send(gateway, paid))).toBe(jwsOf(answer));
    expect(await service.transfersOf(paid)).toHaveLength(1);
    expect(answer.body.svc).toMatchObject({ settled_by: 'observed_transfer' });
  });
});

describe('a facilitator that has not settled', () => {
  /** Behaviours by nonce, because all orders are sent at once. */
  const behaviours = new Map<string, FacilitatorBehaviour>();
  const behaveByNonce = () => service.facilitator.behave(({ nonce }) => behaviours.get(nonce) ?? honest);

  it.concurrent.each(unsaid)('503 where it %s, and 200 to the same payment once it settles', async (what, says) => {
    const paid = await order(`${what}, and has not settled`);
    const { nonce } = paid.authorization;
    behaviours.set(nonce, { settles: false, reply: says });
    behaveByNonce();
    const first = await send(gateway, paid);
    expect(nameOf(first)).toBe('503 settlement_pending');
    expect(first.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(first.headers.get('x-should-retry')).toBe('false');
    // The transaction that the facilitator names is passed on unchanged, or none: only the chain says whether it moves.
    const transaction = 'transaction' in says && says.kind === 'failure' ? says.transaction : '';
    expect(decodePaymentResponseHeader(first.headers.get('x-payment-response') ?? '')).toMatchObject({
      success: false,
      errorReason: 'settlement_pending',
      transaction,
    });
    expect(await service.transfersOf(paid)).toEqual([]);
    behaviours.delete(nonce);
    const answer = await settledAnswerTo(gateway, paid);
    expect(jwsOf(await send(gateway, paid))).toBe(jwsOf(answer));
    expect(service.timesAsked(paid)).toBeGreaterThan(1);
    expect(await service.transfersOf(paid)).toHaveLength(1);
  });
});
