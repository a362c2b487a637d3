import { beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../schema/limits.ts';
import { type PaymentHeaders, payingFetch, paymentFor, registrationOf, type Wallet } from '../harness/buyer.ts';
import { askToStream, heardOf } from '../harness/doors/listen.ts';
import { ask, CHAT, REGISTER } from '../harness/doors/open-service.ts';
import { otherPaidDoors } from '../harness/doors/other-paid-doors.ts';
import { refusing } from '../harness/doors/refusing.ts';
import { headersBytesMax } from '../harness/doors/table.ts';
import { type Head, listenToWire } from '../harness/doors/wire.ts';
import { startNginx } from '../harness/nginx.ts';
import { carriedBy, payingOnSolana, payloadFor } from '../harness/solana/buyer.ts';
import { openSolanaService, type SolanaService } from '../harness/solana/open-service.ts';

/** Sixty characters: what stands in every offer, receipt and URL that a header carries. */
const BASE_URL = `https://${'gateway.'.repeat(6)}test`;
const ORIGIN = { origin: 'https://dashboard.example' };
const KEY = { 'x-api-key': 'a-live-key' };

let service: SolanaService;
let wire: ReturnType<typeof listenToWire>;
/** Where a door is knocked at: at the service itself, and at the nginx before it. */
const at = { directly: '', 'behind a stock nginx': '' };
type Way = keyof typeof at;
const ways = Object.keys(at) as Way[];

beforeAll(async () => {
  service = await openSolanaService(
    { BASE_URL },
    { media: true, breaks_at: ['before_record'], meant: /the drawer is stuck/ },
  );
  wire = listenToWire(service.url);
  at.directly = service.url;
  at['behind a stock nginx'] = (await startNginx(service.url)).url;
});

type Request = (account: Pick<Wallet, 'address'>, name: string) => object;
const work: readonly (readonly [path: string, request: Request])[] = [
  [CHAT, (_, name) => ask(name)],
  ...otherPaidDoors.map(({ path, request }) => [path, request] as const),
];

/** A task says on which network its sender pays. */
const onSolana = (body: object) => ('chain_id' in body ? { ...body, chain_id: 'solana' } : body);

interface Sent {
  readonly body?: unknown;
  readonly headers?: PaymentHeaders;
  readonly by?: typeof fetch;
}

/** A request of a page's: it names its origin, and its answer is read to the end. */
async function post(url: string, { body, headers = {}, by = fetch }: Sent = {}) {
  const form = body instanceof FormData;
  const typed: Record<string, string> = form || body === undefined ? {} : { 'content-type': 'application/json' };
  const sent = body === undefined ? {} : { body: form ? body : JSON.stringify(body) };
  const answer = await by(url, { method: 'POST', headers: { ...ORIGIN, ...typed, ...headers }, ...sent });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

/** Each answer that the service itself gave since the last look is short; which there were. */
function shortHeads(): readonly Head[] {
  const heads = wire.take();
  for (const { status, bytes, text } of heads) {
    expect(bytes, text).toBeLessThan(headersBytesMax(status));
    expect(text, 'a signed receipt in a header').not.toMatch(/: ey[\w-]+\.[\w-]+\.[\w-]+\r/);
  }
  return heads;
}

const statuses = (heads: readonly Head[]) => heads.map(({ status }) => status);

// The first call that is claimed is the one that breaks.
it('503 settlement_pending: short, and so is the answer to the same payment', async () => {
  const payer = await service.chain.newWallet();
  const sent = { body: ask('Pending'), headers: await paymentFor(payer, at.directly + CHAT) };
  expect((await post(at.directly + CHAT, sent)).status).toBe(503);
  await expect.poll(async () => (await post(at.directly + CHAT, sent)).status).toBe(200);
  expect(statuses(shortHeads())).toEqual(expect.arrayContaining([402, 503, 200]));
});

describe.each(ways)('%s', way => {
  it.each(work)('POST %s: 402, and 200 by each official client, by key and delivered again', async (path, request) => {
    const url = at[way] + path;
    const payer = await service.chain.newWallet();
    const { signer } = await service.svm.newWallet();
    const body = (name: string) => request(payer, `${name} ${way}`);
    const there = (name: string) => onSolana(request({ address: signer.address as never }, `${name} ${way}`));
    const again = { body: body('Again'), headers: await paymentFor(payer, url) };
    const again_there = { body: there('Again'), headers: carriedBy(await payloadFor(service.svm, signer, url)) };
    const heard = [
      await post(url),
      await post(url, { body: body('Unpaid') }),
      await post(url, { body: body('Base v2'), by: payingFetch(payer) }),
      await post(url, { body: body('Base v1'), by: payingFetch(payer, 1) }),
      await post(url, { body: there('v2'), by: payingOnSolana(service.svm, signer) }),
      await post(url, { body: there('v1'), by: payingOnSolana(service.svm, signer, 1) }),
      await post(url, { body: body('By key'), headers: KEY }),
      await post(url, again),
      await post(url, again),
      await post(url, again_there),
      await post(url, again_there),
    ];
    expect(heard.map(({ status }) => status)).toEqual([402, 402, ...Array(9).fill(200)]);
    expect(heard.map(({ headers }) => headers.get('x-svc-settlement-status'))).toEqual([
      ...[null, null, ...Array(4).fill('settled'), 'waived'],
      ...['settled', 'idempotent_replay', 'settled', 'idempotent_replay'],
    ]);
    // Each official client paid once, at its first try; what was delivered again moved nothing.
    expect(await service.transfersFrom(payer)).toHaveLength(3);
    shortHeads();
  });

  it(`POST ${REGISTER}: 402, and 200 by the official client`, async () => {
    const url = at[way] + REGISTER;
    const payer = await service.chain.newWallet();
    const registered = await post(url, { body: await registrationOf(payer), by: payingFetch(payer) });
    expect([(await post(url)).status, registered.status]).toEqual([402, 200]);
    shortHeads();
  });

  it(`POST ${CHAT} with stream: true: the receipt is in its last event, what names it in its headers`, async () => {
    const url = at[way] + CHAT;
    const payer = await service.chain.newWallet();
    const { signer } = await service.svm.newWallet();
    const headers = await paymentFor(payer, url);
    const named = askToStream(`Flow ${way}`);
    const heard = [
      await post(url, { body: named, headers }),
      await post(url, { body: named, headers }),
      await post(url, { body: askToStream(`v1 ${way}`), by: payingFetch(payer, 1) }),
      await post(url, { body: askToStream(`Solana ${way}`), by: payingOnSolana(service.svm, signer) }),
      await post(url, { body: askToStream(`By key ${way}`), headers: KEY }),
    ];
    for (const { status, headers, text } of heard) {
      expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream']);
      const events = text.match(/(?<=^data: ).*$/gm) ?? [];
      const { ends_well, svc } = heardOf(events);
      expect(ends_well).toBe(true);
      expect(headers.get('x-svc-task-id')).toBe(svc?.task_id);
      expect(headers.get('x-svc-verify-url')).toBe(svc?.verify_url);
      expect(svc?.issuer_signature.jws).toMatch(/^ey/);
    }
    shortHeads();
  });
});

it('refusals are short: of the request, the payment, the payer, the session and the book', async () => {
  const agent = await service.newAgent();
  const killed = await refusing(service).killed();
  const url = service.url + CHAT;
  const pay = (account: Wallet) => paymentFor(account, url);
  const bought = await pay(agent.account);
  await post(url, { body: ask('Bought'), headers: bought });
  shortHeads();
  const refusals: readonly (readonly [status: number, sent: Sent])[] = [
    [400, { body: { messages: 'none' }, headers: await pay(agent.account) }],
    [400, { body: ask(), headers: { 'payment-signature': '???' } }],
    [402, { body: ask(), headers: await pay(await service.chain.newWallet(0n)) }],
    [403, { body: ask(), headers: { ...(await pay(agent.account)), 'x-svc-session': 'guess' } }],
    [403, { body: ask(), headers: await pay(killed.account) }],
    [409, { body: ask('Another'), headers: bought }],
    [413, { body: ask('x'.repeat(limits.request_bytes_max)), headers: await pay(agent.account) }],
  ];
  wire.take();
  for (const [status, sent] of refusals) expect((await post(url, sent)).status).toBe(status);
  expect(statuses(shortHeads())).toEqual(refusals.map(([status]) => status));
});

it('/graphql is short: 402, and 200 by the official client', async () => {
  const url = `${service.url}/graphql`;
  const payer = await service.chain.newWallet();
  const query = 'mutation ($input: ChatCompletionInput!) { createChatCompletion(input: $input) { id } }';
  const body = { query, variables: { input: ask('By graph') } };
  expect((await post(url, { body })).status).toBe(402);
  expect((await post(url, { body, by: payingFetch(payer) })).status).toBe(200);
  expect(statuses(shortHeads())).toEqual([402, 402, 200]);
});
