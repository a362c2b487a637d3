import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { registrationOf } from '../../../harness/buyer.ts';
import { askToStream, listen } from '../../../harness/doors/listen.ts';
import { ask, CHAT, type Chat, REGISTER } from '../../../harness/doors/open-service.ts';
import { openSolanaService, type SolanaService } from '../../../harness/solana/open-service.ts';

let service: SolanaService;
beforeAll(async () => {
  service = await openSolanaService({ HUB_TIMEOUT_MS: '20000' });
});
beforeEach(() => {
  for (const hub of service.hubs) hub.behave({ kind: 'answer' });
  for (const gate of [service.gate, ...Object.values(service.gates)]) gate.open();
});

const codeOf = ({ status, body }: { status: number; body: { code?: unknown } }) => `${status} ${body.code}`;

async function payment() {
  const payer = await service.svm.newWallet();
  return { payer, headers: await service.paymentOnSolana(payer) };
}

describe('POST /v1/chat/completions with a payment on Solana that was seen before', () => {
  it('200 idempotent_replay: the same signed bytes, no second transfer', async () => {
    const { payer, headers } = await payment();
    const first = await service.post<Chat>(CHAT, ask('Twice'), headers);
    const again = await service.post<Chat>(CHAT, ask('Twice'), headers);
    expect([first.status, again.status]).toEqual([200, 200]);
    expect(again.body.svc.issuer_signature.jws).toBe(first.body.svc.issuer_signature.jws);
    expect(first.headers.get('x-svc-settlement-status')).toBe('settled');
    expect(again.headers.get('x-svc-settlement-status')).toBe('idempotent_replay');
    expect(await service.movedFrom(payer)).toHaveLength(1);
  });

  it('200 idempotent_replay though its blockhash is known no longer', async () => {
    const { payer, headers } = await payment();
    const first = await service.post<Chat>(CHAT, ask('Late'), headers);
    await service.svm.expire();
    const again = await service.post<Chat>(CHAT, ask('Late'), headers);
    expect(again.body.svc.issuer_signature.jws).toBe(first.body.svc.issuer_signature.jws);
    expect(await service.movedFrom(payer)).toHaveLength(1);
  });

  it('200 to many at once: one is settled, the rest are replays or told to come again', async () => {
    const { payer, headers } = await payment();
    const heard = await Promise.all(Array.from({ length: 8 }, () => service.post<Chat>(CHAT, ask('Race'), headers)));
    const settled = heard.filter(one => one.headers.get('x-svc-settlement-status') === 'settled');
    expect(settled).toHaveLength(1);
    for (const one of heard) if (one.status !== 200) expect(codeOf(one as never)).toBe('409 payment_in_flight');
    expect(await service.movedFrom(payer)).toHaveLength(1);
  });

  it('409 claim_already_settled on another request, and at another door', async () => {
    const { payer, headers } = await payment();
    await service.post(CHAT, ask('One'), headers);
    expect(codeOf(await service.post(CHAT, ask('Another'), headers))).toBe('409 claim_already_settled');
    const registration = await registrationOf(await service.chain.newWallet());
    const elsewhere = await service.post(REGISTER, registration, headers);
    expect([402, 409]).toContain(elsewhere.status);
    expect(await service.movedFrom(payer)).toHaveLength(1);
  });

  it('409 payment_in_flight while it is being worked on, and 200 to both in the end', async () => {
    const { payer, headers } = await payment();
    const slow = ask('Slow', { model: 'alpha-1' });
    const before = service.gates.alpha.held();
    service.gates.alpha.hold();
    const first = service.post<Chat>(CHAT, slow, headers);
    await expect.poll(service.gates.alpha.held).toBe(before + 1);
    const early = await service.post(CHAT, slow, headers);
    expect(codeOf(early)).toBe('409 payment_in_flight');
    expect(Number(early.headers.get('Retry-After'))).toBeGreaterThan(0);
    service.gates.alpha.open();
    expect((await first).status).toBe(200);
    expect((await service.post(CHAT, slow, headers)).status).toBe(200);
    expect(await service.movedFrom(payer)).toHaveLength(1);
  });
});

describe('POST /v1/chat/completions on Solana without an answer of a hub', () => {
  it('502, nothing charged, and the same payment pays when the hubs are back', async () => {
    const { payer, headers } = await payment();
    for (const hub of service.hubs) hub.behave({ kind: 'status', status: 500 });
    const failed = await service.post(CHAT, ask('Anybody?'), headers);
    expect(failed).toMatchObject({ status: 502, body: { charged: false } });
    expect(await service.movedFrom(payer)).toEqual([]);
    for (const hub of service.hubs) hub.behave({ kind: 'answer' });
    await expect
      .poll(async () => (await service.post(CHAT, ask('Anybody?'), headers)).status, { interval: 250 })
      .toBe(200);
    expect(await service.movedFrom(payer)).toHaveLength(1);
  });
});

describe('POST /v1/chat/completions while Solana is away', () => {
  it('503 chain_unavailable, nothing charged; Base pays on; /health and /readyz name it', async () => {
    const { payer, headers } = await payment();
    service.gate.cut();
    const away = await service.post(CHAT, ask('There?'), headers);
    expect(away).toMatchObject({ status: 503, body: { code: 'chain_unavailable', charged: false } });
    expect(Number(away.headers.get('Retry-After'))).toBeGreaterThan(0);
    const on_base = await service.chain.newWallet();
    expect((await service.buy(on_base, ask('By Base'))).status).toBe(200);
    expect((await service.get('/health')).body).toMatchObject({ status: 'degraded', away: ['solana'] });
    await expect
      .poll(async () => (await service.get('/readyz')).body, { interval: 500 })
      .toEqual({ status: 'ok', without: ['solana'] });
    service.gate.open();
    await expect.poll(async () => (await service.get('/health')).body.status).toBe('ok');
    expect((await service.post(CHAT, ask('There?'), headers)).status).toBe(200);
    expect(await service.movedFrom(payer)).toHaveLength(1);
  });
});

describe('POST /v1/chat/completions with stream: true on Solana', () => {
  it('503 settlement_pending on a stalled chain; when it moves, the same payment streams its answer', async () => {
    const { payer, headers } = await payment();
    await service.svm.stall();
    const body = askToStream('Stalled');
    const pending = await service.post(CHAT, body, headers);
    expect(codeOf(pending)).toBe('503 settlement_pending');
    expect(Number(pending.headers.get('Retry-After'))).toBeGreaterThan(0);
    await service.svm.stall(false);
    await expect.poll(async () => (await listen(service, body, { headers })).status, { interval: 500 }).toBe(200);
    expect(await service.movedFrom(payer)).toHaveLength(1);
  });
});
