import { expect } from 'vitest';
import { type PaymentHeaders, payingFetch, paymentFor, registrationOf, type Wallet } from '../buyer.ts';
import { payloadFor, solanaPayingFetch, solanaPaymentHeaders } from '../solana/buyer.ts';
import { openSolanaService } from '../solana/open-service.ts';
import { untilHolds } from '../until-holds.ts';
import { askToStream, readChunks } from './listen.ts';
import { ask, CHAT, REGISTER } from './open-service.ts';
import { otherPaidDoors } from './other-paid-doors.ts';
import { headersBytesMax } from './table.ts';
import { listenToWire, type ResponseHead } from './wire.ts';

/*
 * Payments to the service directly and behind a proxy. The head of each answer must be so short that a proxy with default settings passes
 * it on.
 */

/** A long base URL, because every offer, receipt and URL in a header contains it. */
const BASE_URL = `https://${'gateway.'.repeat(6)}test`;
const ORIGIN = { origin: 'https://dashboard.example' };
const KEY = { 'x-api-key': 'a-live-key' };

type Request = (account: Pick<Wallet, 'address'>, name: string) => object;
/** A request for each paid endpoint. */
export const paidRequests: readonly (readonly [path: string, request: Request])[] = [
  [CHAT, (_, name) => ask(name)],
  ...otherPaidDoors.map(({ path, request }) => [path, request] as const),
];

/** Sets the network of a task to Solana. Only tasks name their network in the body. */
const onSolana = (body: object) => ('chain_id' in body ? { ...body, chain_id: 'solana' } : body);

interface Sent {
  readonly body?: unknown;
  readonly headers?: PaymentHeaders;
  readonly by?: typeof fetch;
}

/** Sends a request as a web page does, with its origin, and reads the whole answer. */
export async function post(url: string, { body, headers = {}, by = fetch }: Sent = {}) {
  const form = body instanceof FormData;
  const typed: Record<string, string> = form || body === undefined ? {} : { 'content-type': 'application/json' };
  const sent = body === undefined ? {} : { body: form ? body : JSON.stringify(body) };
  const answer = await by(url, { method: 'POST', headers: { ...ORIGIN, ...typed, ...headers }, ...sent });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

export type MeasuredService = Awaited<ReturnType<typeof openMeasuredService>>;

/** A service that measures the head of each answer, and whose first paid call fails before it is recorded. */
export async function openMeasuredService() {
  const service = await openSolanaService(
    { BASE_URL },
    { media: true, breaks_at: ['before_record'], meant: /the drawer is stuck/ },
  );
  const wire = listenToWire(service.url);
  return {
    ...service,
    /** Checks that the head of each answer since the last call is short. Returns these heads. */
    shortHeads(): readonly ResponseHead[] {
      const heads = wire.take();
      for (const { status, bytes, text } of heads) {
        expect(bytes, text).toBeLessThan(headersBytesMax(status));
        expect(text, 'a signed receipt in a header').not.toMatch(/: ey[\w-]+\.[\w-]+\.[\w-]+\r/);
      }
      return heads;
    },
  };
}

/** Makes the call that fails, then sends the same payment again until reconcile has completed it. */
export async function breakOnce(service: MeasuredService): Promise<readonly ResponseHead[]> {
  const payer = await service.chain.newWallet();
  const url = service.url + CHAT;
  const sent = { body: ask('Pending'), headers: await paymentFor(payer, url) };
  expect((await post(url, sent)).status).toBe(503);
  await untilHolds(async () => expect((await post(url, sent)).status).toBe(200));
  return service.shortHeads();
}

/**
 * Buys from the endpoint at `at` + `path` in every way: without payment, by each official client, by API key, and with the same payment
 * twice.
 */
export async function buyByEachClient(
  service: MeasuredService,
  at: string,
  [path, request]: (typeof paidRequests)[number],
) {
  const url = at + path;
  const payer = await service.chain.newWallet();
  const { signer } = await service.svm.newWallet();
  const body = (name: string) => request(payer, `${name} ${at}`);
  const there = (name: string) => onSolana(request({ address: signer.address as never }, `${name} ${at}`));
  const again = { body: body('Again'), headers: await paymentFor(payer, url) };
  const again_there = {
    body: there('Again'),
    headers: solanaPaymentHeaders(await payloadFor(service.svm, signer, url)),
  };
  const heard = [
    await post(url),
    await post(url, { body: body('Unpaid') }),
    await post(url, { body: body('Base v2'), by: payingFetch(payer) }),
    await post(url, { body: body('Base v1'), by: payingFetch(payer, 1) }),
    await post(url, { body: there('v2'), by: solanaPayingFetch(service.svm, signer) }),
    await post(url, { body: there('v1'), by: solanaPayingFetch(service.svm, signer, 1) }),
    await post(url, { body: body('By key'), headers: KEY }),
    await post(url, again),
    await post(url, again),
    await post(url, again_there),
    await post(url, again_there),
  ];
  expect(heard.map(({ status }) => status)).toEqual([402, 402, ...Array(9).fill(200)]);
  expect(heard.map(({ headers }) => headers.get('x-svc-settlement-status'))).toEqual([
    null,
    null,
    ...Array(4).fill('settled'),
    'waived',
    'settled',
    'idempotent_replay',
    'settled',
    'idempotent_replay',
  ]);
  // Each official client paid once, at its first attempt, and the repeated delivery moved no money.
  expect(await service.transfersFrom(payer)).toHaveLength(3);
  service.shortHeads();
}

/** Registers once without payment and once by the official client. */
export async function registerAt(service: MeasuredService, at: string): Promise<void> {
  const url = at + REGISTER;
  const payer = await service.chain.newWallet();
  const registered = await post(url, { body: await registrationOf(payer), by: payingFetch(payer) });
  expect([(await post(url)).status, registered.status]).toEqual([402, 200]);
  service.shortHeads();
}

/** Streams from each client. The last event of a stream contains the receipt, and the headers name it. */
export async function streamAt(service: MeasuredService, at: string): Promise<void> {
  const url = at + CHAT;
  const payer = await service.chain.newWallet();
  const { signer } = await service.svm.newWallet();
  const headers = await paymentFor(payer, url);
  const named = askToStream(`Flow ${at}`);
  const heard = [
    await post(url, { body: named, headers }),
    await post(url, { body: named, headers }),
    await post(url, { body: askToStream(`v1 ${at}`), by: payingFetch(payer, 1) }),
    await post(url, { body: askToStream(`Solana ${at}`), by: solanaPayingFetch(service.svm, signer) }),
    await post(url, { body: askToStream(`By key ${at}`), headers: KEY }),
  ];
  for (const { status, headers, text } of heard) {
    expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    const events = text.match(/(?<=^data: ).*$/gm) ?? [];
    const { ends_well, svc } = readChunks(events);
    expect(ends_well).toBe(true);
    expect(headers.get('x-svc-task-id')).toBe(svc?.task_id);
    expect(headers.get('x-svc-verify-url')).toBe(svc?.verify_url);
    expect(svc?.issuer_signature.jws).toMatch(/^ey/);
  }
  service.shortHeads();
}
