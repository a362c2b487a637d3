import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalText, fromBase64url, hashOf, hexOf, sha256Of } from '../../rest-compat/receipt/page/check/bytes.js';
import { receiptFacts } from '../../rest-compat/receipt/page/check/facts.js';
import { isExtended, isIncluded, leafHashOf } from '../../rest-compat/receipt/page/check/merkle.js';
import { checkReceipt } from '../../rest-compat/receipt/page/check/receipt-checks.js';
import { isIssued, openJws } from '../../rest-compat/receipt/page/check/signatures.js';
import { usdcText } from '../../rest-compat/receipt/page/check/texts.js';
import { canonicalJson, type Json, type JsonObject } from '../../schema/canonical-json.ts';
import { sha256Hex } from '../../schema/digest.ts';
import { lookUpOf } from '../../schema/transfer-look-up.ts';
import {
  appendLeaf,
  consistencyPath,
  type Frontier,
  inclusionPath,
  type NodeAddress,
} from '../../subgraphs/receipt/log/merkle-tree.ts';
import { leafHash } from '../../subgraphs/receipt/verify/merkle-proof.ts';
import { base_url, issue, issuer } from '../harness/receipt/issued.ts';
import { paidCall, paidElsewhere } from '../harness/vectors/receipt-facts.ts';

/* What a page checks by, beside what the service itself reckons by: two programs, one result. */

describe('bytes', () => {
  it('canonical JSON is RFC 8785’s, whatever the value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), value => {
        const sound = JSON.parse(JSON.stringify(value)) as Json;
        expect(canonicalText(sound)).toBe(canonicalJson(sound));
      }),
    );
  });

  it('base64url is read as Buffer reads it, and only where it encodes back to itself', () => {
    fc.assert(
      fc.property(fc.uint8Array(), bytes => {
        expect(fromBase64url(Buffer.from(bytes).toString('base64url'))).toEqual(bytes);
      }),
    );
    for (const other of ['QQ==', 'QR', 'Q', 'a b', 'é', 7]) expect(fromBase64url(other)).toBeNull();
  });

  it('SHA-256 is SHA-256', async () => {
    const parts = [Buffer.from('a'), Buffer.from('bc')];
    expect(hexOf(await sha256Of(...parts))).toBe(createHash('sha256').update('abc').digest('hex'));
    expect(() => hashOf('00')).toThrow();
  });
});

describe('proofs of the log', () => {
  const SIZE = 21;
  const nodes = new Map<string, Buffer>();
  const roots: Buffer[] = [];
  let frontier: Frontier = [];
  for (let size = 0; size < SIZE; size++) {
    const appended = appendLeaf(frontier, size, leafHash(`leaf ${size}`));
    for (const { level, index, hash } of appended.nodes) nodes.set(`${level}/${index}`, hash);
    roots.push(appended.root);
    frontier = appended.frontier;
  }
  const read = ({ level, index }: NodeAddress) => nodes.get(`${level}/${index}`) ?? Buffer.alloc(0);
  const rootOf = (size: number) => roots[size - 1] ?? Buffer.alloc(0);

  it('lead to the root for each leaf of each tree, and for no other leaf or root', async () => {
    for (let size = 1; size <= SIZE; size++)
      for (let index = 0; index < size; index++) {
        const leaf = await leafHashOf(Buffer.from(`leaf ${index}`));
        const path = inclusionPath(index, size, read);
        expect(await isIncluded({ leaf, index, size, root: rootOf(size) }, path)).toBe(true);
        expect(await isIncluded({ leaf, index: index + 1, size, root: rootOf(size) }, path)).toBe(false);
        const root = rootOf(size === 1 ? 2 : size - 1);
        expect(await isIncluded({ leaf, index, size, root }, path)).toBe(false);
      }
  });

  it('lead from each tree to each that it is the beginning of, and to no other', async () => {
    for (let size = 1; size <= SIZE; size++)
      for (let old = 1; old <= size; old++) {
        const proof = consistencyPath(old, size, read);
        const larger = { size, root: rootOf(size) };
        expect(await isExtended({ size: old, root: rootOf(old) }, larger, proof)).toBe(true);
        const forged = { size: old, root: rootOf(old === 1 ? 2 : old - 1) };
        expect(await isExtended(forged, larger, proof)).toBe(false);
      }
  });
});

describe('a token', () => {
  const jws = issuer.signJws({ iss: base_url, jti: 'task_1' });

  it('is the issuer’s by ES256 alone, whatever it says of itself', async () => {
    expect(await isIssued(issuer.jwks, openJws(jws))).toBe(true);
    const [, body = '', tail = ''] = jws.split('.');
    const headed = (header: JsonObject) =>
      `${Buffer.from(JSON.stringify(header)).toString('base64url')}.${body}.${tail}`;
    for (const alg of ['none', 'HS256', 'ES384'])
      expect(await isIssued(issuer.jwks, openJws(headed({ alg, kid: issuer.kid })))).toBe(false);
    expect(await isIssued(issuer.jwks, openJws(headed({ alg: 'ES256', kid: issuer.kid })))).toBe(false);
    expect(openJws(headed({ alg: 'ES256', kid: issuer.kid, crit: ['b64'] }))).toBeNull();
    for (const none of ['', 'a.b', `${jws}.x`, 7, null]) expect(openJws(none)).toBeNull();
  });
});

describe('facts', () => {
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

  it('say XNO in whole ones, and nothing of a model or hub that nobody named', () => {
    const observed_transfer = { rail: 'xno', amount: `12${'0'.repeat(29)}` };
    expect(receiptFacts({ observed_transfer, model: '', hub: '' })).toMatchObject({
      Amount: '1.20 XNO',
      Model: null,
      'Answered by': null,
    });
  });

  it('say that nothing was paid where a key stood in', () => {
    expect(receiptFacts({ waived_by: 'demo_key' }).Amount).toBe('Nothing was paid: a demo key stood in');
  });
});

describe('early versions', () => {
  const of = (checked: Awaited<ReturnType<typeof checkReceipt>>, status: string) =>
    checked.filter(each => each.status === status).map(({ name }) => name);

  it('fail nothing that they did not sign yet', async () => {
    const payload = { payload_version: 8, task_id: 'task_8', hub: 'north' };
    const jws = issuer.signJws({ iss: base_url, jti: payload.task_id, ...payload });
    const early = { ...payload, payload, issuer_signature: { jws, kid: issuer.kid, alg: 'ES256' } };
    const receipt = { ...early, payload_hash: sha256Hex(canonicalJson(payload)) };
    const audit = { receipt, preimage: canonicalJson(payload), keys: issuer.jwks };
    const checked = await checkReceipt(audit, null);
    expect(of(checked, 'failed')).toEqual([]);
    expect(of(checked, 'open')).toEqual(
      expect.arrayContaining(['Second signature', 'Tree head', 'Keys of their time']),
    );
    const forged = { ...audit, receipt: { ...receipt, hub: 'south' } };
    expect(of(await checkReceipt(forged, null), 'failed')).toEqual(['Copies']);
  });

  it('are no excuse for a later one', async () => {
    const receipt = await issue(paidCall);
    const { signature: _, ...without } = receipt;
    const audit = { receipt: without, preimage: canonicalJson(receipt.payload ?? null), keys: issuer.jwks };
    expect(of(await checkReceipt(audit, null), 'failed')).toEqual(
      expect.arrayContaining(['Second signature', 'Keys of their time']),
    );
  });
});

describe('a book chain', () => {
  it('is read as what it is, and fails with another book or payment', async () => {
    const receipt = await issue({ ...paidCall, payment: null, chained: paidElsewhere });
    const { payload } = receipt as { payload: JsonObject };
    const signed = lookUpOf(payload, null) ?? {};
    const copiesOf = async (shown: JsonObject, transfer: JsonObject | undefined = signed) => {
      const audit = { receipt: shown, preimage: canonicalJson(payload), keys: issuer.jwks, transfer };
      return (await checkReceipt(audit, null)).find(({ name }) => name === 'Copies')?.status;
    };
    expect(await copiesOf(receipt)).toBe('passed');
    const others: readonly JsonObject[] = [
      { book_id: 8 },
      { claim_id: 8 },
      { payment_ref: 'base:0x01' },
      { payment_ref: null },
      { payer_proven: false },
      { observed_transfer: { ...paidElsewhere.observed_transfer, amount: '1' } },
    ];
    for (const other of others) expect(await copiesOf({ ...receipt, ...other })).toBe('failed');
    expect(await copiesOf(receipt, { ...signed, payee: paidElsewhere.observed_transfer.payer })).toBe('failed');
    expect(receiptFacts(payload)).toMatchObject({
      Amount: '1.50 USDC',
      'Paid to': paidElsewhere.observed_transfer.pay_to,
      Payer: 'Shown to be the agent of the book',
      Transaction: String(payload.payment_ref),
    });
  });
});
