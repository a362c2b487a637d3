import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { canonicalJson, isJsonObject, type JsonObject } from '../../../schema/canonical-json.ts';
import { documents } from '../../../schema/documents.ts';
import { runCommand } from '../../harness/commands/run.ts';
import { leafOf, NoteKey } from '../../harness/log/note.ts';
import { TestLog } from '../../harness/log/test-log.ts';
import { issue, issuer } from '../../harness/receipt/issue.ts';
import { ownFolder } from '../../harness/scratch.ts';
import { paidCall, waivedCall } from '../../harness/vectors/receipt-facts.ts';

const log = new TestLog('svc.example/log');
const [witness, other] = [new NoteKey('witness.example/w1', 4), new NoteKey('witness.example/w2', 4)];

let folder: string;
beforeAll(async () => {
  folder = await ownFolder();
  const document = await issue(paidCall);
  if (!isJsonObject(document.payload)) throw new Error('no payload');
  log.grow(4);
  log.leaves.push(Buffer.from(leafOf(Buffer.from(canonicalJson(document.payload)))));
  log.grow(2);
  const files = {
    'receipt.json': JSON.stringify(document),
    'jwks.json': JSON.stringify(issuer.jwks),
    'receipt.tlog-proof': log.proof(4, witness.sign(log.body(), 1_700_000_000)),
    'another.tlog-proof': log.proof(3, witness.sign(log.body(), 1_700_000_000)),
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
});

const at = (name: string) => join(folder, name);
const receipt = () => [at('receipt.json'), '--jwks', at('jwks.json')];
const proven = () => [...receipt(), '--proof', at('receipt.tlog-proof'), '--log-key', log.keys[0]?.verifier_key ?? ''];

const verify = (...args: string[]) => runCommand('gateway/commands/verify.ts', args);

describe('npm run verify -- FILE --proof FILE --log-key KEY --witness KEY', () => {
  it('0: the receipt stands in the log, and the named witness has vouched for its head', async () => {
    const { code, text } = await verify(...proven(), '--witness', witness.verifier_key);
    expect(text).toContain('ok    The witness witness.example/w1 cosigned the checkpoint.');
    expect([code, text.includes('In the log: leaf 4 of 7.')]).toEqual([0, true]);
  });

  it('1 for the audit document of one receipt in which the payload of another lies', async () => {
    const [own, { payload = null }] = [await issue(waivedCall), await issue(paidCall)];
    const { policies } = issuer.policyHistory as { policies: readonly JsonObject[] };
    const brought = { keys: issuer.jwks, issuer_history: issuer.history, receipt_policy: policies.at(-1) ?? null };
    const preimage = canonicalJson(own.payload ?? null);
    const audit = { schema: documents.receipt_audit, receipt: own, preimage, ...brought, lane: {} };
    await writeFile(at('audit.json'), JSON.stringify(audit));
    expect(await verify(at('audit.json'))).toMatchObject({ code: 0 });
    await writeFile(at('mixed.json'), JSON.stringify({ ...audit, payload }));
    const { code, text } = await verify(at('mixed.json'), ...proven().slice(1));
    expect([code, text.includes('In the log')]).toEqual([1, false]);
  });

  it('1 where one of two named witnesses has not', async () => {
    const witnesses = [witness, other].flatMap(({ verifier_key }) => ['--witness', verifier_key]);
    const { code, text } = await verify(...proven(), ...witnesses);
    expect(text).toContain('FAIL  The witness witness.example/w2 has not cosigned the checkpoint. (witness_missing)');
    expect(code).toBe(1);
  });

  it('1 for the proof of another leaf, and for another log', async () => {
    const elsewhere = ['--proof', at('another.tlog-proof'), '--log-key', log.keys[0]?.verifier_key ?? ''];
    expect(await verify(...receipt(), ...elsewhere)).toMatchObject({
      code: 1,
      text: expect.stringContaining('inclusion_invalid'),
    });
    const another = ['--proof', at('receipt.tlog-proof'), '--log-key', new NoteKey(log.origin).verifier_key];
    expect(await verify(...receipt(), ...another)).toMatchObject({
      code: 1,
      text: expect.stringContaining('checkpoint_invalid'),
    });
  });

  it.each([
    ['a witness without a proof', ['--witness', witness.verifier_key], 'give one with --proof'],
    ['a proof without a key', ['--proof', 'x'], 'give it with --log-key'],
    [
      'the key of a log as a witness',
      ['--log-key', witness.verifier_key, '--proof', 'x'],
      'not the verifier key of a log',
    ],
  ])('2 for %s, and a sentence that says what is missing', async (_what, args, sentence) => {
    expect(await verify(...receipt(), ...args)).toMatchObject({ code: 2, text: expect.stringContaining(sentence) });
  });
});
