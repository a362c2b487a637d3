import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { canonicalJson, type Json, type JsonObject } from '../../schema/canonical-json.ts';
import { verifyReceiptAudit, verifyRefusalAudit } from '../../subgraphs/receipt/verify/audit.ts';
import { runCommand } from '../harness/commands/run.ts';
import { ask, openService, type Service } from '../harness/doors/open-service.ts';
import { policyDoorsOf } from '../harness/doors/policies.ts';
import { openCheckpoint, openProof } from '../harness/log/note.ts';
import { alter, paths } from '../harness/receipt/issue.ts';
import { ownFolder } from '../harness/scratch.ts';

interface Audit extends JsonObject {
  readonly receipt: JsonObject;
  readonly preimage: string;
  readonly keys: JsonObject;
  readonly log: JsonObject & {
    readonly checkpoint: string;
    readonly tlog_proof: string;
    readonly verifier_keys: string[];
  };
}

let service: Service;
let folder: string;
let agent: Awaited<ReturnType<Service['newAgent']>>;
let audit: Audit;
let refusal: JsonObject;
beforeAll(async () => {
  [service, folder] = await Promise.all([openService({}, { meant: /does not extend what was signed/ }), ownFolder()]);
  agent = await service.newAgent();
  const session = { 'X-SVC-Session': agent.session };
  const { svc } = (await service.buy(agent.account, ask('One'), session)).body;
  await service.buy(agent.account, ask('Two'), session);
  await anchorHead();
  audit = (await service.get<Audit>(`/receipt/${svc.task_id}?format=auditor`)).body;
  const book = policyDoorsOf(service);
  const { heard } = await book.chatToRefusal(await book.newBlockedAgent());
  refusal = (await service.get(`/refusal/${heard.body.refusal_id}?format=auditor`)).body;
});

/** Records that the newest head was anchored on Base. This record is only a hint: an auditor looks the transaction up on Base. */
async function anchorHead() {
  await service.query(`insert into log_anchor (anchor_id, chain_epoch, sender, purpose, tree_size, root_hash, nonce, attempts,
      fee_max_wei, tx_hash, block_number, state, at)
    select 'anchor', 1, '0xab', 'anchor', tree_size, root_hash, 0, '[]', 0, '0xcd', 7, 'final', now()
    from tree_head order by tree_size desc limit 1`);
}

describe('?format=auditor', () => {
  it('holds all of a receipt, its evidence and its look-up, and verifies by what it brings', async () => {
    expect(audit).toMatchObject({
      schema: 'svc402.receipt_audit.v1',
      transfer: {
        network: 'base',
        rpc_method: 'eth_getTransactionReceipt',
        payee: service.pay_to,
        payer: agent.account.address,
        amount: '2000',
        log_index: expect.any(Number),
      },
      lane: { proof_outcome: 'settled', settled_by: 'observed_transfer', freeze: false },
      log: { anchor: { tx_hash: '0xcd', block_number: 7, final: true } },
    });
    const said = verifyReceiptAudit(audit, audit.keys);
    expect(said).toMatchObject({ kind: 'valid', report: { broken: [], unsigned: { unknown: [] } } });
    const { status, body } = await service.get(`/receipt/${audit.receipt.task_id}/preimage`);
    expect([status, canonicalJson(body)]).toEqual([200, audit.preimage]);
  });

  it('its checkpoint and proof are C2SP’s, to whoever reads nothing but that', () => {
    const [key = ''] = audit.log.verifier_keys;
    expect(openCheckpoint(audit.log.checkpoint, key)).toMatchObject({ size: 3 });
    expect(openProof(audit.log.tlog_proof, Buffer.from(audit.preimage), key)).toMatchObject({ index: 1, size: 3 });
  });

  it('names a transfer that stands on the chain as it says', async () => {
    const { rpc_method, rpc_params, contract, topics, log_index, amount } = audit.transfer as JsonObject;
    const asked = { jsonrpc: '2.0', id: 1, method: rpc_method, params: rpc_params };
    const answer = await fetch(service.chain.rpc_url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(asked),
    });
    const { result } = (await answer.json()) as { result: { status: string; logs: JsonObject[] } };
    const log = result.logs.find(each => Number(each.logIndex) === log_index);
    expect(result.status).toBe('0x1');
    expect(log).toMatchObject({ address: String(contract).toLowerCase(), topics });
    expect(BigInt(String(log?.data)).toString()).toBe(amount);
  });

  it('is where the auditor_url of an export leads', async () => {
    const { body } = await service.get<{ rows: { task_id: string; auditor_url: string }[] }>(
      `/v1/agents/${agent.agent_id}/book/export?format=json`,
      { 'X-SVC-Session': agent.session },
    );
    const row = body.rows.find(({ task_id }) => task_id === audit.receipt.task_id);
    const heard = await service.get(String(row?.auditor_url).replace(service.url, ''));
    expect(heard).toMatchObject({
      status: 200,
      body: { schema: 'svc402.receipt_audit.v1', receipt: { task_id: row?.task_id } },
    });
  });
});

describe('what is not there', () => {
  const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
  const PAGE = 'text/html; charset=utf-8';
  const PROBLEM = 'application/problem+json; charset=utf-8';
  const nobodys = '00000000000000000000000000';
  it.each<[what: string, suffix: string, accept: string, status: number, media: string]>([
    ['a browser', '', BROWSER, 404, PAGE],
    ['whoever cannot set Accept', '?format=html', '*/*', 404, PAGE],
    ['a program', '', '*/*', 404, PROBLEM],
    ['a browser that says JSON', '?format=json', BROWSER, 404, PROBLEM],
    ['an auditor', '?format=auditor', BROWSER, 404, PROBLEM],
    ['a browser that says .json', '.json', BROWSER, 404, PROBLEM],
    ['a browser with too long an address', 'a'.repeat(40), BROWSER, 400, PAGE],
    ['a browser that names no format there is', '?format=xml', BROWSER, 400, PROBLEM],
  ])('is said to %s', async (_, suffix, accept, status, media) => {
    for (const path of [`/receipt/task_${nobodys}`, `/refusal/refusal_${nobodys}`]) {
      const { headers, text, ...heard } = await service.get<string>(path + suffix, { accept });
      expect([heard.status, headers.get('content-type')]).toEqual([status, media]);
      // So that a cache does not return one form for the other.
      expect([headers.get('vary')?.split(', ')[0], headers.get('cache-control')]).toEqual(['accept', 'no-store']);
      expect(text.startsWith('<!doctype html>')).toBe(media === PAGE);
      expect(headers.has('content-security-policy')).toBe(media === PAGE);
    }
  });
});

describe('npm run verify', () => {
  const verifying = async (document: JsonObject, ...args: string[]) => {
    const file = join(folder, 'audit.json');
    await writeFile(file, JSON.stringify(document));
    return runCommand('gateway/commands/verify.ts', [file, ...args]);
  };

  it('checks it offline, and says whose keys it went by', async () => {
    const said = await verifying({ ...audit, receipt: audit.receipt });
    expect(said).toMatchObject({ code: 0, text: expect.stringContaining("the document's own") });
    expect(said.text).toContain("Whether the keys are the issuer's: the document itself named them.");
    expect(said.text).toContain('The log was only appended to since the receipt was signed (consistency proof).');
    expect(await verifying(refusal)).toMatchObject({ code: 0, text: expect.stringContaining('Nothing was charged') });
  });

  it('goes by a key set of one’s own, and fails by a stranger’s', async () => {
    const keys = join(folder, 'jwks.json');
    await writeFile(keys, JSON.stringify(audit.keys));
    const said = await verifying(audit, '--jwks', keys);
    expect(said.code).toBe(0);
    expect(said.text).not.toContain('the document itself named them');
    await writeFile(keys, JSON.stringify({ keys: [] }));
    expect(await verifying(audit, '--jwks', keys)).toMatchObject({ code: 1 });
    expect(JSON.parse(await readFile(keys, 'utf8'))).toEqual({ keys: [] });
  });

  it('says no to one that was tampered with', async () => {
    const forged = { ...audit, log: { ...audit.log, consistency: { from: 2, to: 3, proof: [] } } };
    expect(await verifying(forged)).toMatchObject({ code: 1, text: expect.stringContaining('log_rewritten') });
  });
});

/** Another value of the same type. */
function another(old: Json): Json {
  if (typeof old === 'string')
    return /^[0-9a-f]{64}$/.test(old) ? (old.startsWith('0') ? `1${old.slice(1)}` : `0${old.slice(1)}`) : `${old}x`;
  if (typeof old === 'number') return old + 1;
  if (typeof old === 'boolean') return !old;
  return old === null ? 'x' : null;
}

describe('whatever is altered in it', () => {
  it('fails, or is named as what nobody signed', async () => {
    const every = paths(audit);
    expect(every.length).toBeGreaterThan(150);
    for (const path of every) {
      const forged = alter(audit, path, another) as JsonObject;
      const name = path.join('.');
      const verified = verifyReceiptAudit(forged, audit.keys);
      if (verified.kind === 'invalid') continue;
      const { unsigned, broken } = verified.report;
      const open = [...unsigned.lane, ...unsigned.unknown, ...broken, ...aside];
      expect(
        open.some(known => name.replace(/^receipt\./, '').startsWith(known)),
        name,
      ).toBe(true);
    }
  });

  /** Members that the verifier computes, gets from elsewhere or does not use. */
  const aside = [
    'keys',
    'schema',
    'log.log_id',
    'log.verifier_keys',
    'log.head.at',
    'log.head.kid',
    'log.anchor',
    'issuer_history',
    'receipt_policy',
  ];

  it('of a refusal fails, too', async () => {
    const own = refusal.keys as JsonObject;
    for (const path of paths(refusal).filter(([top]) => top === 'refusal' || top === 'preimage')) {
      const forged = alter(refusal, path, another) as JsonObject;
      const name = path.join('.');
      const verified = verifyRefusalAudit(forged, own);
      if (name !== 'refusal.verification.how') expect(verified.kind, name).toBe('invalid');
    }
  });

  it('as it stands it passes', () => {
    expect(verifyReceiptAudit(audit, audit.keys).kind).toBe('valid');
    expect(verifyRefusalAudit(refusal, refusal.keys as JsonObject).kind).toBe('valid');
  });
});

/** Must be the last test, because a gateway that has found the halt accepts no more payments. */
describe('a log that is halted', () => {
  it('states nothing of the log while that is halted, and says so', async () => {
    await service.query(`update log_head set halted = '{"known":{},"found":{}}'`);
    try {
      const { status, body } = await service.get<Audit>(`/receipt/${audit.receipt.task_id}?format=auditor`);
      expect([status, 'log' in body]).toEqual([200, false]);
      expect(String(body.does_not_prove)).toContain('halted');
      expect(verifyReceiptAudit(body, body.keys)).toMatchObject({
        kind: 'valid',
        report: { unchecked: expect.arrayContaining([expect.stringContaining('still contains the receipt')]) },
      });
    } finally {
      await service.query('update log_head set halted = null');
    }
  });
});
