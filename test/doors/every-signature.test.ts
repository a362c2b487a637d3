import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { canonicalJson, type Json, type JsonObject } from '../../schema/canonical-json.ts';
import { documents } from '../../schema/documents.ts';
import { sessionTypes } from '../../schema/session/typed-data.ts';
import { registerText, type SignedText, type SignedWord, signedText, signedWords } from '../../schema/signed-words.ts';
import { type DocumentKind, documentIn, kindOf } from '../../subgraphs/receipt/verify/document.ts';
import { type EnvelopeKind, envelopeIn } from '../../subgraphs/receipt/verify/envelope.ts';
import { undecided, type VerifiedDocument, verify } from '../../subgraphs/receipt/verify/module.ts';
import { documentFrom } from '../../subgraphs/receipt/verify/read-document.ts';
import { registrationOf } from '../harness/buyer.ts';
import { ask, CHAT, openService, type Service } from '../harness/doors/open-service.ts';
import { webhookDoorsOf } from '../harness/doors/webhooks.ts';
import { keptDocuments } from '../harness/fixtures/signed-documents.ts';
import { alter, paths } from '../harness/receipt/issue.ts';
import { ROOT } from '../harness/root.ts';
import { type DelegatedSession, ownDomain, signAct } from '../harness/session/delegate.ts';
import { bindChild, bindRoot, revoke, sessionPath } from '../harness/session/trees.ts';
import { openReceiver, type ReceivedMessage } from '../harness/webhook/receiver.ts';

/*
 * Every signature by the issuer's keys, and every signature that a wallet or session key makes for the service, must belong to a kind that
 * the verifier supports. A new use of a key, text, type or schema fails here until it has a row.
 */

type Kind = DocumentKind | EnvelopeKind;

/** Kinds of documents for each file that requests a signature. */
const signing: Readonly<Record<string, readonly Kind[]>> = {
  'gateway/http/serve-gateway.ts': ['agent_card'],
  'gateway/x402/extensions.ts': ['offer', 'delivery'],
  'rest-compat/faces/a2a/card.ts': ['agent_card'],
  'subgraphs/book/dispute/verdict.ts': ['verdict'],
  'subgraphs/book/export/sign.ts': ['export', 'export_coverage'],
  'subgraphs/book/inflow/sign.ts': ['inflow'],
  'subgraphs/book/ingest/answer.ts': ['ingest_record'],
  'subgraphs/book/page/allowance.ts': ['allowance'],
  'subgraphs/book/reconciliation/document.ts': ['reconciliation'],
  'subgraphs/receipt/envelope/sign.ts': ['credential', 'statement'],
  // The statement that a key is revoked, which the list of revocations contains.
  'subgraphs/receipt/issuer/record.ts': ['revocations'],
  'subgraphs/receipt/issuer/signing-keys.ts': ['issuer_history', 'receipt_policy_history', 'token', 'checkpoint'],
  'subgraphs/receipt/issuer/publish.ts': ['receipt_policy_history', 'token'],
  'subgraphs/receipt/log/break.ts': ['log_break', 'log_breaks'],
  'subgraphs/receipt/log/checkpoint.ts': ['checkpoint', 'log_proof'],
  'subgraphs/receipt/log/head.ts': ['tree_head'],
  'subgraphs/receipt/receipt/issue.ts': ['receipt'],
  'subgraphs/receipt/refusal/sign-refusal.ts': ['refusal'],
  'subgraphs/receipt/totals/integrate.ts': ['totals'],
};

const METHODS =
  /\.(signJws|signCanonical|coSignature|signDigest|signAllowance|signNote|signEnvelope|signCard)\(|\bissuer\.signature\(/;

/** Schemas of documents that are not signed. */
const unsigned_schemas: readonly string[] = [
  documents.receipt_policy,
  documents.key_revocation,
  documents.book_seq_report,
  documents.endpoint_score,
];

const sources = ['gateway', 'rest-compat', 'subgraphs'].flatMap(folder =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.ts') && !name.includes('node_modules'))
    .map(name => `${folder}/${name}`),
);

let service: Service;
let keys: JsonObject;
let root: DelegatedSession & { readonly task_id: string };
/** Documents that the service, or the holder of a key, has made for this test. */
const made = new Map<Kind, JsonObject | string>();

beforeAll(async () => {
  service = await openService({ NODE_ENV: 'test' });
  const first = Promise.withResolvers<ReceivedMessage>();
  const onMessage = (message: ReceivedMessage) => {
    first.resolve(message);
    return { status: 200 };
  };
  const [agent, receiver] = await Promise.all([service.newAgent(), openReceiver(onMessage)]);
  await webhookDoorsOf(() => service).put(agent, { url: receiver.url, events: ['settle'] });
  const unpaid = await service.knock('POST', CHAT);
  const paid = await service.buy(agent.account, ask('One'), { 'X-SVC-Session': agent.session });
  keys = (await service.get('/.well-known/jwks.json')).body;
  const bound = await bindRoot(service, agent.account);
  root = bound;
  const child = await bindChild(service, bound);
  const { task_id, issuer_signature } = paid.body.svc;
  const text = async (path: string) => (await service.get<string>(path)).body;
  const proven = await service.get(`/prove-result?task_id=${task_id}`);
  const act = await signAct(bound, { action: 'handoff', resource: `receipt/${task_id}`, target_agent: 2 });
  const message = {
    delegationHash: bound.delegation_hash,
    nonce: act.nonce ?? '',
    action: act.action,
    resource: act.resource,
    deadline: act.deadline ?? 0,
    targetAgent: 2,
    payloadHash: `0x${'0'.repeat(64)}`,
  };
  const domain = { ...ownDomain() } as JsonObject;
  const types = { SessionAct: sessionTypes.SessionAct } as unknown as JsonObject;
  await revoke(service, child.payer, child);
  const status = await service.get(sessionPath(child.delegation_hash));
  const delivered = await first.promise;
  const registration = await registrationOf(agent.account);
  const headers = {
    offer: unpaid.headers.get('PAYMENT-REQUIRED') ?? '',
    delivery: paid.headers.get('PAYMENT-RESPONSE') ?? '',
  };
  const handed_out: Readonly<Record<string, JsonObject | string>> = {
    agent_card: (await service.get('/.well-known/agent-card.json')).body,
    offer: headers.offer,
    delivery: headers.delivery,
    checkpoint: await text('/log/checkpoint'),
    log_proof: await text(`/log/proof/${task_id}`),
    token: issuer_signature.jws,
    tree_head: proven.body,
    session_grant: bound.headers['X-SVC-Delegation'] ?? '',
    session_act: {
      domain,
      types,
      primaryType: 'SessionAct',
      message,
      signature: act.signature,
      signer: bound.agent.address,
    },
    session_revocation: status.body,
    wallet_text: { ...registration },
    webhook_message: { ...delivered.body },
    hmac: delivered.headers['x-svc-signature'] ?? '',
    unsigned: keys,
  };
  for (const [kind, document] of Object.entries(handed_out)) made.set(kind as Kind, document);
});

type Judged = Pick<VerifiedDocument, 'valid' | 'fault' | 'report' | 'claims'> & { readonly kind: string };

/** Verifies a document as the page and the command do. */
function judge(given: JsonObject | string): Judged {
  const bytes = Buffer.from(typeof given === 'string' ? given : JSON.stringify(given));
  const document = documentFrom(bytes);
  if (document !== null) return verify(document, keys);
  const envelope = envelopeIn(bytes);
  if (envelope === null) return { kind: 'none', valid: false, fault: null, report: null, claims: null };
  return { kind: envelope.kind, ...envelope.verify(keys) };
}

const flippedText = (text: string, at: number) =>
  text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ 1) + text.slice(at + 1);

function flipped(old: Json): Json {
  if (typeof old === 'number') return old + 1;
  if (typeof old === 'boolean') return !old;
  return typeof old === 'string' && old !== '' ? flippedText(old, old.length >> 1) : 'x';
}

describe('each use of the issuer’s keys', () => {
  it('is by a file of this list, and each of the list signs', () => {
    const found = sources.filter(name => METHODS.test(readFileSync(join(ROOT, name), 'utf8')));
    expect(found.sort()).toEqual(Object.keys(signing).sort());
  });

  it('makes a document that the verifier knows, and one of which is verified in this file or among those that are kept', () => {
    // A log break and a cut export are tested in test/faults/rewritten-receipts.test.ts and test/subgraphs/book/export/coverage.test.ts.
    const elsewhere: readonly Kind[] = ['log_break', 'log_breaks', 'export_coverage'];
    const verified = new Set([
      ...made.keys(),
      ...elsewhere,
      ...keptDocuments.map(({ kind }) => (kind === 'ingest_answer' ? 'ingest_record' : kind)),
    ]);
    const kinds = [...new Set(Object.values(signing).flat())];
    expect(kinds.filter(kind => !verified.has(kind))).toEqual([]);
  });
});

describe('each schema of a document', () => {
  it.each(Object.values(documents))('%s is recognised, and by nothing else than its name', schema => {
    const kind = kindOf({ schema });
    expect(kind === 'unsigned').toBe(unsigned_schemas.includes(schema));
    expect(kind === 'receipt').toBe(schema === documents.receipt);
  });
});

/** A text of that kind that a wallet has signed for this service. Null for typed data. */
async function signedWord(word: SignedWord) {
  const account = await service.chain.newWallet(0n);
  const row = signedWords[word];
  if (row.form === 'typed_data') return null;
  const text =
    row.form === 'claim'
      ? `${row.word}|${canonicalJson({ iss: service.url, agent_id: 1 })}`
      : textOf(word, Object.fromEntries(row.parts.map(part => [part, partFor(part, account.address)])));
  return { text, signature: await account.signMessage({ message: text }), signer: account.address };
}
const textOf = (word: SignedWord, parts: Record<string, string | number>) =>
  word === 'register_pay' || word === 'register_recover'
    ? registerText(word, parts as never)
    : signedText(word as SignedText, service.url, parts as never);
const partFor = (part: string, address: string) => (/address|^wallet$/.test(part) ? address : `a-${part}`);

describe('each text and typed data of schema/signed-words.ts', () => {
  it.each(Object.keys(signedWords) as SignedWord[])(
    '%s is verified by its signer, and altered it is not',
    async word => {
      const signed = await signedWord(word);
      // The three types of sessions, which are typed data, are verified below.
      if (signed === null) return expect(Object.keys(sessionTypes)).toContain(word);
      expect(judge(signed)).toMatchObject({
        kind: 'wallet_text',
        valid: true,
        claims: { word, signer: signed.signer, service: signedWords[word].names === 'specified' ? null : service.url },
      });
      const { signer: _, ...nameless } = signed;
      const own = Object.values(signedWords[word])
        .flat()
        .some(part => /address|^wallet$/.test(String(part)));
      if (!own) expect(judge(nameless).fault?.code).toBe('needs_signer');
      for (const member of ['text', 'signature'] as const)
        expect(judge({ ...signed, [member]: flippedText(signed[member], signed[member].length - 4) }).valid).toBe(
          false,
        );
    },
  );
});

describe('each of them, as it is handed out', () => {
  const decided: readonly Kind[] = [
    'agent_card',
    'offer',
    'delivery',
    'checkpoint',
    'log_proof',
    'token',
    'tree_head',
    'session_grant',
    'session_act',
    'session_revocation',
    'wallet_text',
  ];
  const of = (kind: Kind) => made.get(kind) as JsonObject | string;

  it.each(decided)('%s is valid', kind => {
    expect(judge(of(kind))).toMatchObject({ kind, valid: true });
  });

  it.each(decided)('%s is not with a bit of it flipped, but for what the report names', kind => {
    const given = of(kind);
    const document = documentFrom(Buffer.from(typeof given === 'string' ? given : JSON.stringify(given)));
    if (document === null) {
      const text = String(given);
      const places = Array.from({ length: 60 }, (_, at) => Math.floor((text.length * at) / 60));
      // After a flipped bit the rest of a proof's path cannot be checked without the receipt, as the report states.
      const open = kind === 'log_proof' ? text.indexOf('\n\n') : 0;
      const passed = places.filter(at => at >= open && judge(flippedText(text, at)).valid);
      expect(passed).toEqual([]);
      return;
    }
    const own = documentIn(document);
    const { report } = judge(own);
    const beside = [...(report?.unsigned.lane ?? []), ...(report?.unsigned.unknown ?? [])];
    const passed = paths(own)
      .filter(path => judge(alter(own, path, flipped) as JsonObject).valid)
      .map(path => path.join('.'));
    expect(passed.filter(path => !beside.some(name => path.startsWith(name)))).toEqual([]);
  });

  it.each<[kind: Kind, code: string]>([
    ['webhook_message', 'needs_secret'],
    ['hmac', 'needs_secret'],
    ['unsigned', 'not_signed'],
  ])('%s is neither valid nor invalid: %s', (kind, code) => {
    const { fault, valid, ...said } = judge(of(kind));
    expect([said.kind, valid, fault?.code, undecided(fault)]).toEqual([kind, false, code, true]);
    expect(fault?.sentence).not.toContain('receipt is');
  });

  it('a message of a webhook whose event was altered contradicts its own hash', () => {
    const message = of('webhook_message') as JsonObject;
    expect(judge({ ...message, position: 99 }).fault?.code).toBe('event_hash_mismatch');
  });

  it('a grant for another service needs that service’s address, and is none of this one', () => {
    const { addresses: _, ...without } = keys;
    const grant = documentFrom(Buffer.from(String(of('session_grant')))) ?? {};
    expect(verify(grant, without).fault?.code).toBe('needs_service');
    expect(verify(grant, without, { base_url: service.url })).toMatchObject({
      valid: true,
      claims: { service: service.url, delegation_hash: root.delegation_hash },
    });
    expect(verify(grant, without, { base_url: 'https://other.example' }).fault).toMatchObject({
      code: 'needs_chain',
      sentence: expect.stringMatching(
        /^The key of 0x\w{40} did not make this signature\. (The key of 0x\w{40} did|It is not the signature of a single key)\. If 0x\w{40} is a contract, only the contract can say whether it accepts the signature \(ERC-1271 on Base\)\. If it is not, the signature is invalid\.$/,
      ),
    });
  });
});
