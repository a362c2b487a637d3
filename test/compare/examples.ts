import type { Door } from '../../rest-compat/door.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { bodiesByDoor } from '../harness/doors/proof-bodies.ts';

/* Valid requests from which the corpus is made: at least one for each endpoint, and one for each action of an endpoint that has actions. */

/** The agent whose session every request has. */
export const AGENT_ID = 7;
export const WALLET = '0x00000000000000000000000000000000000A11cE';
const HASH = '0'.repeat(64);
const HASH_32 = `0x${HASH}`;
const SIGNATURE = `0x${'0'.repeat(130)}`;
const ULID = '1'.repeat(26);

/** Texts that are valid values of some member: ids, hashes, addresses, times and words. */
export const validTexts: readonly string[] = [
  'text',
  '5',
  '2027-01-31T00:00:00Z',
  '2026-11-01',
  'https://example.com/v1',
  WALLET,
  HASH,
  HASH_32,
  SIGNATURE,
  `sha256:${HASH}`,
  `sha256=${HASH}`,
  `base:${HASH_32}`,
  'base',
  'svc/auto',
  'AAAA',
  `whsec_${Buffer.alloc(32).toString('base64')}`,
  ...['job', 'bid', 'post', 'comment', 'approval', 'task', 'refusal', 'router', 'book', 'report'].map(
    noun => `${noun}_${ULID}`,
  ),
  `1.${HASH_32}`,
  '1.collected',
  'x000/000',
  '000',
];

const more: Readonly<Record<string, readonly JsonObject[]>> = {
  bid_on_job: [{ price: '10000', eta: 'soon', pitch: 'well' }],
  pick_bid: [{ bid_id: `bid_${ULID}` }],
  pay_job: [{ output_sha256: HASH }],
  ledger_escrow: ['open', 'release', 'clawback', 'status'].map(action => ({ action, task_id: 'task' })),
  a2a_escrow: [
    { action: 'fund', job_id: 'any', task_id: 'task' },
    { action: 'submit', job_id: 'any', fulfillment_receipt_id: 'task', output_commitment: `sha256:${HASH}` },
    { action: 'challenge', job_id: 'any', claim_type: 'output_missing' },
    ...['release', 'clawback', 'status'].map((action): JsonObject => ({ action, job_id: 'any' })),
  ],
  set_webhook: [{ url: 'https://hooks.example.com/elsewhere' }],
  start_reconciliation: [{ wallet: WALLET, from_block: 0, to_block: 1 }],
  act_in_session: ['handoff', 'redeem', 'approve', 'read'].map(action => ({
    action,
    resource: 'receipt/any',
    signature: SIGNATURE,
    nonce: HASH_32,
    deadline: 1,
  })),
  revoke_session: [{ at: 1, signature: SIGNATURE }],
  open_router_book: [{ label: 'mine' }],
  set_router_key: [{ key: 'key' }],
  broadcast_generation: [{ generation_id: 'gen', model: 'm', amount: '5', rail: 'credits' }],
  record_completion: [
    {
      source: 'elsewhere',
      external_id: '1',
      payer: WALLET,
      payee: WALLET,
      amount: '5',
      payment_ref: `base:${HASH_32}`,
      output_hash: HASH,
    },
  ],
  answer_approval: [{ decision: 'approve' }],
  answer_linked_approval: [{ decision: 'approve' }],
  list_wallet_receipts: [{ wallet: WALLET, network: 'base', signature: SIGNATURE, signed_at: '2026-11-30T00:00:00Z' }],
  chat_completions: [{ messages: [{ role: 'user', content: 'Hi' }], stream: true }],
  create_message: [{ max_tokens: 16, messages: [{ role: 'user', content: 'Hi' }], stream: true }],
  create_response: [{ input: 'Hi', stream: true }],
  transcribe_audio: [{ file: { upload: 'an-upload', name: 'speech.mp3', media_type: 'audio/mpeg' } }],
};

/** Replaces placeholders in the bodies of the tests' table, which name objects of those tests. */
const named = (body: JsonObject): JsonObject =>
  JSON.parse(
    JSON.stringify(body)
      .replaceAll('"whom an escrow is opened with"', '8')
      .replaceAll('{agentWallet}', WALLET)
      .replaceAll('"agent_id":1', `"agent_id":${AGENT_ID}`)
      .replaceAll('bid_of_nobody', `bid_${ULID}`),
  ) as JsonObject;

/** Bodies for that endpoint, at least one of them valid. */
export function examplesOf(door: Door): readonly JsonObject[] {
  const ofTests = door.methods.flatMap(method => bodiesByDoor[`${method} ${door.name}`] ?? []);
  const all = [...(door.example ? [door.example] : []), ...ofTests.map(named), ...(more[door.name] ?? [])];
  return all.length > 0 ? all : [{}];
}
