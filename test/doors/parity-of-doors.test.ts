import { beforeAll, describe, expect, it } from 'vitest';
import type { Door } from '../../rest-compat/door.ts';
import { everyDoor } from '../../rest-compat/every-door.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { audio, audioForm } from '../harness/doors/audio-form.ts';
import { completion } from '../harness/doors/completions.ts';
import { disputeDoorsOf } from '../harness/doors/disputes.ts';
import { inflowDoorsOf } from '../harness/doors/inflows.ts';
import { ask, openService, type Service } from '../harness/doors/open-service.ts';
import { newestBlock, reconciliationDoorsOf } from '../harness/doors/reconciliations.ts';
import { refusing } from '../harness/doors/refusing.ts';
import { report, routerDoorsOf } from '../harness/doors/router.ts';
import { type Given, signedByFaces, signingDoors } from '../harness/doors/signing-doors.ts';
import { invoiceOf, transferOf, witness } from '../harness/ingest/witness.ts';

/*
 * What is signed is the same bytes for the same row, whichever face shows it: for each door of the table whose answer shows
 * something signed. What A2A shows is in parity.test.ts.
 */

/** Doors of that kind that are not asked here, and why. */
const elsewhere: Readonly<Record<string, string>> = {
  record_inflow: 'each call makes another row, whose claim get_agent_book shows',
  correct_inflow: 'each call makes another correction, which get_agent_book shows',
  file_dispute: 'it is filed once, and get_dispute shows its verdict',
  start_reconciliation: 'its report is signed later, and get_reconciliation shows it',
  get_book_slice: 'it shows rows of get_agent_book to whoever has a token, and is no tool',
  get_revocations: 'signatures in it are those of payers, not ours',
  revoke_session: 'the signature in it is the payer’s, not ours',
  get_session: 'the signature in it is the payer’s, not ours',
};

const SECRET = `inbound-${'7'.repeat(32)}`;
let service: Service;
let asked: Readonly<Record<string, readonly Given[]>>;
const world = witness();

beforeAll(async () => {
  const environment = { BOARD_INBOUND_SECRET: SECRET, RATE_FREE: '100000/1' };
  service = await openService(environment, { media: true, transfers: world.transfers });
  asked = await everything();
});

/** The example of each door that sells work, paid for once and not sent yet. */
async function paidWork(): Promise<Record<string, readonly Given[]>> {
  const sold = signingDoors.filter(door => door.price !== null && door.challenge === 'first');
  const given = sold.map(async (door): Promise<[string, readonly Given[]]> => {
    const payer = await service.chain.newWallet();
    const headers = await service.payment(payer, door.path);
    const { example } = door;
    // A task names who pays for it.
    const body = { ...example, ...(example && 'sender' in example && { sender: payer.address }) };
    if (door.takes === 'application/json') return [door.name, [{ headers, body }]];
    const file = audio('parity');
    const data = () => audioForm({ file, name: 'parity.wav' });
    return [
      door.name,
      [{ headers, form: { data, file: { name: 'parity.wav', base64: file.bytes.toString('base64') } } }],
    ];
  });
  return Object.fromEntries(await Promise.all(given));
}

async function everything(): Promise<Record<string, readonly Given[]>> {
  const { file, bought } = disputeDoorsOf(() => service);
  const { record } = inflowDoorsOf(() => service);
  const { start, ended } = reconciliationDoorsOf(() => service);
  const { open, broadcast } = routerDoorsOf(() => service);
  const agent = await service.newAgent();
  const { account, session } = agent;
  const headers = { 'X-SVC-Session': session };
  const of_agent = { agent_id: String(agent.agent_id) };
  const book = `/v1/agents/${agent.agent_id}/book`;
  const { task_id } = await bought(agent, ask('Parity of doors'));
  await record(agent, { allocation: '2000' });
  const filed = await file(agent, { task_id, claim_type: 'output_missing' });
  const range = { wallet: account.address, from_block: 0, to_block: await newestBlock(service.chain) };
  const { report_id } = await ended(agent, (await start(agent, range)).body.report_id);
  const published = await service.post<{ slug: string }>(`${book}/export/publish`, { session });
  const refused = refusing(service);
  const { heard } = await refused.refused(await refused.killed());

  const ingest = {
    params: of_agent,
    body: invoiceOf(world.show(transferOf({ payer: account.address }))) as JsonObject,
    headers: { ...headers, ...(await service.payment(account, `${book}/ingest`, headers)) },
  };
  const shown = world.show(transferOf());
  const { payer, pay_to: payee, amount, transaction: payment_tx } = shown;
  const inbound = {
    body: completion({ payer, payee, amount, payment_tx }),
    headers: { 'X-SVC-Board-Inbound': SECRET },
  };
  const completed = await service.post<{ task_id: string }>(
    '/v1/board/inbound/completions',
    inbound.body,
    inbound.headers,
  );
  const generated = await broadcast((await open()).body.ingest_key, report());
  await service.query(
    `insert into log_break (found, reason, declared_at, kid, jws) values ('{"tree_size":1,"root_hash":"00"}', 'parity', now(), 'a-kid', $1)`,
    [`${'e'.repeat(40)}.${'e'.repeat(40)}.${'e'.repeat(40)}`],
  );
  const signed_at = Math.floor(Date.now() / 1000);
  const proof = `svc.receipts|${service.url}|${account.address}|${signed_at}`;
  // A call, the stamp of a registration, what came from elsewhere, and what a router has done.
  const receipts = [task_id, agent.task_id, completed.body.task_id, generated.body.task_id];
  return {
    ...(await paidWork()),
    ingest_foreign_x402: [ingest],
    get_receipt: receipts.map(it => ({ params: { task_id: it } })),
    record_completion: [inbound],
    get_agent_book: [{ params: of_agent, headers }],
    export_book: [{ params: of_agent, query: { format: 'json' }, headers }],
    get_dispute: [{ params: { ...of_agent, dispute_id: filed.body.dispute_id }, headers }],
    get_reconciliation: [{ params: { ...of_agent, report_id }, headers }],
    pull_book_export: [{ params: { slug: published.body.slug } }],
    get_refusal: [{ params: { refusal_id: heard.body.refusal_id ?? '' } }],
    prove_result: [{ query: { task_id, requested: 'true' } }],
    list_wallet_receipts: [
      {
        params: { wallet: account.address },
        body: { signed_at, signature: await account.signMessage({ message: proof }) },
      },
    ],
    get_log_totals: [{}],
    get_issuer_history: [{}, { query: { version: '1' } }],
    get_receipt_policy_history: [{}],
    get_log_breaks: [{}],
    get_agent_card: [{}],
    get_legacy_agent_card: [{}],
    get_payment_proof: [{ params: { task_id } }],
    get_book_total: [{ params: of_agent, query: { task_id }, headers }],
  };
}

it('each door of the table that shows something signed is asked here, or said to be elsewhere, and no other', () => {
  const named = [...Object.keys(asked), ...Object.keys(elsewhere)].sort();
  expect(named).toEqual(signingDoors.map(({ name }) => name).sort());
});

it('each door that sells work is among them', () => {
  const sells = everyDoor.filter(({ price, tags }) => price !== null && tags.includes('inference'));
  expect(signingDoors).toEqual(expect.arrayContaining(sells));
});

describe.each(signingDoors.filter(({ name }) => !(name in elsewhere)).map(door => [door.name, door] as const))(
  '%s',
  (name: string, door: Door) => {
    it('shows the same signed bytes by each face that offers it', async () => {
      for (const given of asked[name] ?? []) {
        const found = async () => {
          const shown = Object.values(await signedByFaces(service, door, given)).filter(it => it !== null);
          expect(shown.length).toBeGreaterThan(1);
          for (const signed of shown) expect(signed.length).toBeGreaterThan(50);
          return new Set(shown).size;
        };
        // An allowance is signed anew each second, and statements of totals as the log grows.
        await expect.poll(found).toBe(1);
      }
    });
  },
);
