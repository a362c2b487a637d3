import { describe, expect, it } from 'vitest';
import { factsOfReceipt } from '../../rest-compat/receipt/page/facts.ts';
import { usdcText } from '../../rest-compat/receipt/page/texts.js';
import { isSettled, receiptSummary } from '../../schema/audit/receipt-summary.ts';
import { isJsonObject, type JsonObject } from '../../schema/canonical-json.ts';
import { keptNamed } from '../harness/fixtures/signed-documents.ts';

/* What pages and commands tell of a receipt. */

describe('money', () => {
  it.each([
    ['2000', '0.002 USDC'],
    ['0', '0.00 USDC'],
    ['1', '0.000001 USDC'],
    ['1000000', '1.00 USDC'],
    ['1230000', '1.23 USDC'],
    ['12345678901234567890', '12345678901234.56789 USDC'],
    ['much', 'much'],
  ])('%s atomic is %s', (atomic, text) => {
    expect(usdcText(atomic)).toBe(text);
  });
});

const kept = (name: string): JsonObject => {
  const { document } = keptNamed(`receipt_${name}`);
  return isJsonObject(document) ? document : {};
};
const claimsOf = ({ payload, task_id }: JsonObject): JsonObject => ({
  ...(payload as JsonObject),
  jti: task_id ?? null,
});

describe('the headline of a receipt follows its lane, and is good news only where money was seen or none was asked for', () => {
  it.each<[name: string, headline: string, settled: boolean]>([
    ['payment_base', 'Paid: 0.002 USDC', true],
    ['payment_solana', 'Paid: 0.002 USDC', true],
    ['registration_stamp', 'Paid: 0.002 USDC', true],
    ['job_legs', 'Paid: 1.517002 USDC', true],
    ['board_post_stamp', 'Paid: 0.002 USDC', true],
    ['board_comment_stamp', 'Paid: 0.002 USDC', true],
    ['job_stamp', 'Paid: 0.002 USDC', true],
    ['bid_stamp', 'Paid: 0.002 USDC', true],
    ['vouched_pending', 'Payment pending: 0.002 USDC', false],
    ['vouched_given_up', 'Payment not found: 0.002 USDC', false],
    ['vouched_arrived', 'Paid, by the issuer’s unsigned word: 0.002 USDC', false],
    ['api_key', 'Nothing was paid: an API key was used', true],
    ['demo_key', 'Nothing was paid: a demo key was used', true],
    ['hand_off', 'Nothing was paid: the receipt was handed off', true],
    ['router_broadcast', 'Nothing was paid to this service', false],
    ['inbound', 'Nothing was paid to this service', false],
    ['ingest', 'Paid to somebody else: 2.50 USDC', true],
    ['ingest_unproven', 'Transfer by an unproven payer: 2.50 USDC', false],
    ['ingest_xno', 'Transfer by an unproven payer: 0.50 XNO', false],
  ])('%s: %s', (name, headline, settled) => {
    const receipt = kept(name);
    const claims = claimsOf(receipt);
    expect(factsOfReceipt(claims, receipt).Payment).toBe(headline);
    expect(isSettled(receiptSummary(claims, receipt).lane)).toBe(settled);
  });
});

describe('facts', () => {
  it('name session, agent key, key hash and intent', () => {
    const [session, by_key, intent] = ['session', 'api_key', 'disputed'].map(name => {
      const receipt = kept(name);
      return factsOfReceipt(claimsOf(receipt), receipt);
    });
    expect(session).toMatchObject({
      Session: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      'Session ends': expect.stringContaining('UTC'),
      'Agent key': expect.stringMatching(/^0x/),
    });
    expect(by_key).toMatchObject({ 'API key (hash)': expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(intent).toMatchObject({ Intent: 'bill-1, attempt 0' });
  });

  it('name what was handed off', () => {
    const receipt = kept('hand_off');
    expect(factsOfReceipt(claimsOf(receipt), receipt)).toMatchObject({
      'Handed on from': kept('session').task_id,
      'Handed on to': expect.stringMatching(/^agent \d+$/),
    });
  });

  it('say whose word they are, where nobody here has seen the work', () => {
    const factsOf = (name: string) => factsOfReceipt(claimsOf(kept(name)), kept(name));
    expect(factsOf('ingest')).toMatchObject({ 'Answered by, as reported': 'shop.example' });
    expect(factsOf('router_broadcast')).toMatchObject({ 'Model, as reported': 'some/model' });
    for (const facts of ['ingest', 'ingest_unproven', 'router_broadcast', 'inbound'].map(factsOf))
      for (const name of ['Bought', 'Model', 'Answered by', 'Bought at']) expect(facts).not.toHaveProperty(name);
    expect(factsOf('payment_base')).toMatchObject({ Model: 'alpha-1', 'Answered by': 'alpha' });
  });

  it('say nothing of a model or hub that nobody named', () => {
    const facts = factsOfReceipt({ observed_transfer: { rail: 'xno', amount: '1' }, model: '', hub: '' }, {});
    expect(Object.keys(facts).join()).not.toMatch(/Model|Answered by/);
  });
});
