import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type ExecutionResult, graphql } from 'graphql';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { type ReceiptContext } from '../../../subgraphs/receipt/context.ts';
import { receiptSubgraph } from '../../../subgraphs/receipt/index.ts';
import { openIssuer } from '../../../subgraphs/receipt/issuer/signing-keys.ts';
import { receiptDocument } from '../../../subgraphs/receipt/receipt/document.ts';
import { receiptsByTask } from '../../../subgraphs/receipt/receipt/find.ts';
import { recordedTask } from '../../../subgraphs/receipt/receipt/task-status.ts';
import { leafHash, verifyInclusion } from '../../../subgraphs/receipt/verify/merkle-proof.ts';
import { verifyReceipt } from '../../../subgraphs/receipt/verify/receipt.ts';
import type { Subgraph } from '../../../subgraphs/subgraph.ts';
import { type ReceiptDatabase, receiptDatabase } from '../../harness/receipt/database.ts';
import { ROOT } from '../../harness/root.ts';
import { paidCall } from '../../harness/vectors/receipt-facts.ts';

const base_url = 'http://127.0.0.1:4000';
const issuer = openIssuer(['22'.repeat(32)], { base_url, now_ms: () => 0 });
const bytes = (hex: string) => Buffer.from(hex, 'hex');

let database: ReceiptDatabase;
let subgraph: Subgraph;
beforeAll(async () => {
  [database, subgraph] = await Promise.all([receiptDatabase(), receiptSubgraph()]);
  await database.issue(issuer, 'task_a', 'task_b');
  await database.issue(issuer, 'task_c');
});
afterAll(() => database.close());

function ask(source: string, variables: JsonObject = {}): Promise<ExecutionResult<JsonObject>> {
  const findTask = (task_id: string) => recordedTask(database, base_url, task_id);
  const newestSize = () => null;
  const known = { database, issuer, findTask, newestSize, base_url };
  const contextValue: Partial<ReceiptContext> = { ...known, profile: 'development' };
  const asked = graphql({ schema: subgraph.schema, source, contextValue, variableValues: variables });
  return asked as Promise<ExecutionResult<JsonObject>>;
}

describe('a stored receipt', () => {
  it('comes back as it was issued, and verifies', async () => {
    const issued = await database.issue(issuer, 'task_d');
    const [read] = await receiptsByTask(database, ['task_d']);
    expect(read).toEqual(issued.receipts[0]);
    if (!read) throw new Error('no receipt');
    expect(verifyReceipt(receiptDocument(read, base_url, 'development'), issuer.jwks)).toMatchObject({ kind: 'valid' });
  });

  it('is found in the order asked for, with null for what is not there', async () => {
    const found = await receiptsByTask(database, ['task_c', 'task_nowhere', 'task_a']);
    expect(found.map(receipt => receipt?.taskId)).toEqual(['task_c', undefined, 'task_a']);
  });
});

describe('the receipt subgraph', () => {
  it('receipt(taskId): typed fields and the whole public document', async () => {
    const { data, errors } = await ask(
      '{ receipt(taskId: "task_a") { taskId amount proofOutcome verifyUrl document } }',
    );
    expect(errors).toBeUndefined();
    expect(data?.receipt).toMatchObject({
      taskId: 'task_a',
      amount: '2000',
      proofOutcome: 'settled',
      verifyUrl: `${base_url}/receipt/task_a`,
      document: { task_id: 'task_a', payment_ref: paidCall.payment?.ref, leaf_index: 0 },
    });
  });

  it('receipt and taskStatus of an unknown task: null', async () => {
    const { data } = await ask('{ receipt(taskId: "x") { taskId } taskStatus(taskId: "x") { status } }');
    expect(data).toEqual({ receipt: null, taskStatus: null });
  });

  it('taskStatus(taskId): completed once there is a receipt', async () => {
    const { data } = await ask('{ taskStatus(taskId: "task_b") { taskId status proofOutcome paymentRef verifyUrl } }');
    expect(data?.taskStatus).toEqual({
      taskId: 'task_b',
      status: 'completed',
      proofOutcome: 'settled',
      paymentRef: paidCall.payment?.ref,
      verifyUrl: `${base_url}/receipt/task_b`,
    });
  });

  it('loads all receipts that other subgraphs name in one read', async () => {
    const query = vi.spyOn(database, 'query');
    const references = ['task_a', 'task_b', 'task_c'].map(taskId => ({ __typename: 'Receipt', taskId }));
    const { data } = await ask(
      'query ($of: [_Any!]!) { _entities(representations: $of) { ... on Receipt { leafIndex } } }',
      {
        of: references,
      },
    );
    expect(data?._entities).toEqual([{ leafIndex: 0 }, { leafIndex: 1 }, { leafIndex: 2 }]);
    expect(query).toHaveBeenCalledTimes(1);
    query.mockRestore();
  });

  it('inclusionProof(taskId): a stranger can check it against the signed head', async () => {
    const { data } = await ask(`{ inclusionProof(taskId: "task_b") { leafIndex leafHash treeSize rootHash path }
      logHead { treeSize rootHash } receipt(taskId: "task_b") { document } }`);
    const proof = data?.inclusionProof as {
      leafIndex: number;
      leafHash: string;
      treeSize: number;
      rootHash: string;
      path: string[];
    };
    expect(data?.logHead).toMatchObject({ treeSize: proof.treeSize, rootHash: proof.rootHash });
    const claim = {
      leaf: bytes(proof.leafHash),
      leaf_index: proof.leafIndex,
      size: proof.treeSize,
      root: bytes(proof.rootHash),
    };
    expect(verifyInclusion(claim, proof.path.map(bytes))).toBe(true);
    const [receipt] = await receiptsByTask(database, ['task_b']);
    expect(leafHash(receipt?.payload ?? '').toString('hex')).toBe(proof.leafHash);
  });

  it('consistencyProof beyond the log: refused', async () => {
    const { errors } = await ask('{ consistencyProof(from: 1, to: 999) }');
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'invalid_request' });
  });

  it('jwks, issuerHistory and receiptPolicyHistory: the published documents', async () => {
    const { data } = await ask('{ jwks issuerHistory none: issuerHistory(version: 9) receiptPolicyHistory }');
    expect(data).toEqual({
      jwks: issuer.jwks,
      issuerHistory: issuer.history,
      none: null,
      receiptPolicyHistory: issuer.policyHistory,
    });
  });
});

describe('npm run verify', () => {
  const run = promisify(execFile);
  const command = join(ROOT, 'gateway/commands/verify.ts');
  const verify = (...args: string[]) =>
    run(process.execPath, ['gateway/launch.js', command, ...args]).then(
      done => ({ code: 0, text: done.stdout + done.stderr }),
      fault => ({ code: fault.code as number, text: `${fault.stdout}${fault.stderr}` }),
    );

  it('says 0 of a valid receipt, also inside an answer, 1 of a forged one, 2 without an argument, 3 of a file that is not there', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-verify-'));
    try {
      const [receipt] = await receiptsByTask(database, ['task_a']);
      if (!receipt) throw new Error('no receipt');
      const document = receiptDocument(receipt, base_url, 'development');
      const files = {
        receipt: document,
        answer: { id: 'x', svc: document },
        forged: { ...document, amount: '1' },
        padded: { ...document, discount: '1', co_signature: { alg: 'secp256k1-eip191' } },
        jwks: issuer.jwks,
      };
      for (const [name, content] of Object.entries(files))
        await writeFile(join(folder, `${name}.json`), JSON.stringify(content));
      const at = (name: string) => [join(folder, `${name}.json`), '--jwks', join(folder, 'jwks.json')];
      expect(await verify(...at('receipt'))).toMatchObject({
        code: 0,
        text: expect.stringContaining('Valid: task task_a'),
      });
      expect(await verify(...at('answer'))).toMatchObject({ code: 0 });
      const padded = await verify(...at('padded'));
      expect(padded).toMatchObject({
        code: 0,
        text: expect.stringContaining('WARN  Not signed, and not part of such a document: discount'),
      });
      expect(padded.text).toContain('WARN  co_signature does not verify');
      expect(padded.text).toMatch(/open {2}Whether USDC moved: look up base:/);
      expect(await verify(...at('forged'))).toMatchObject({
        code: 1,
        text: expect.stringContaining('amount disagrees'),
      });
      expect(await verify(join(folder, 'nowhere.json'))).toMatchObject({ code: 3 });
      expect(await verify()).toMatchObject({ code: 2 });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
