import { beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../schema/limits.ts';
import { HOST, open } from '../harness/attacks/raw.ts';
import { payingFetch } from '../harness/buyer.ts';
import { audioForm } from '../harness/doors/audio-form.ts';
import { makePayment } from '../harness/doors/make-payment.ts';
import { ask, CHAT, openService, type Service } from '../harness/doors/open-service.ts';

const AUDIO = '/v1/audio/transcriptions';
const NOT_SIGNED = 'invalid_exact_evm_payload_signature';

let service: Service;
beforeAll(async () => {
  service = await openService({}, { media: true });
});

/** A payment in the name of a wallet with money, signed by another wallet's key. */
async function forged(): Promise<string> {
  const [rich, poor] = [await service.chain.newWallet(), await service.chain.newWallet(0n)];
  const { headers } = await makePayment(service, { ...poor, address: rich.address });
  return Object.values(headers)[0] as string;
}

/** The head of a request that announces a body, which is never sent. */
const headOf = (path: string, payment: string, type = 'application/json') =>
  `POST ${path} HTTP/1.1\r\n${HOST}PAYMENT-SIGNATURE: ${payment}\r\nContent-Type: ${type}\r\nContent-Length: 1000000\r\n\r\n`;

describe('a forged payment', () => {
  it.each([
    [CHAT, 'application/json'],
    [AUDIO, 'multipart/form-data; boundary=x'],
  ])('%s: 402 with no byte of the body read, in the words of the till', async (path, type) => {
    const knock = await open(service.url);
    knock.socket.write(headOf(path, await forged(), type));
    await expect.poll(() => knock.heard).toContain(NOT_SIGNED);
    expect(knock.heard).toMatch(/^HTTP\/1\.1 402 /);
    expect(knock.heard.toLowerCase()).toContain('payment-required: ');
    expect(service.hubs.flatMap(({ requests }) => requests)).toEqual([]);
  });

  it('leaves nothing, and is told apart by itself whatever session comes along', async () => {
    const payment = await forged();
    const headers = { 'PAYMENT-SIGNATURE': payment, 'X-SVC-Session': 'svcs_nobody' };
    for (let sent = 0; sent < 20; sent++) expect((await service.post(CHAT, ask(), headers)).status).toBe(402);
    expect(await service.query('select 1 from payment_claim')).toEqual([]);
  });

  it('is refused on /graphql too', async () => {
    const payment = await forged();
    const query = 'mutation Buy($input: ChatCompletionInput!) { createChatCompletion(input: $input) { model } }';
    const body = { query, variables: { input: ask() } };
    const heard = await service.knock<{ errors: { message: string }[] }>('POST', '/graphql', {
      body,
      headers: { 'PAYMENT-SIGNATURE': payment },
    });
    expect([heard.status, heard.body.errors[0]?.message]).toEqual([402, NOT_SIGNED]);
  });

  it('beside eleven stalled uploads of them the audio door is open', async () => {
    const payment = await forged();
    const part = '--x\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n';
    const head = headOf(AUDIO, payment, 'multipart/form-data; boundary=x').replace('1000000', '26000000');
    await Promise.all(
      Array.from({ length: 11 }, async () => {
        const stalled = await open(service.url);
        stalled.socket.write(head + part);
        stalled.socket.write(Buffer.alloc(24 * 1024 * 1024));
      }),
    );
    const payer = await service.chain.newWallet();
    const heard = await service.knock('POST', AUDIO, { body: audioForm(), by: payingFetch(payer) });
    expect(heard.status).toBe(200);
  });
});

describe('uploads of one payer that stall, signed as they should be', () => {
  it('take his own share of the room, and another payer is served', async () => {
    const payer = await service.chain.newWallet();
    const { headers } = await makePayment(service, payer);
    const part = '--x\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n';
    const head = headOf(AUDIO, Object.values(headers)[0] as string, 'multipart/form-data; boundary=x');
    const stalled = await Promise.all(
      Array.from({ length: 5 }, async () => {
        const knock = await open(service.url);
        knock.socket.write(head.replace('1000000', '26000000') + part);
        knock.socket.write(Buffer.alloc(24 * 1024 * 1024));
        return knock;
      }),
    );
    const turnedAway = () => stalled.filter(({ heard }) => heard.startsWith('HTTP/1.1 503')).length;
    const files_max = Math.floor(limits.uploads_payer_bytes_max / (24 * 1024 * 1024));
    // The refusals must come before the time limit of an upload.
    await expect.poll(turnedAway).toBe(5 - files_max);
    const other = await service.chain.newWallet();
    const heard = await service.knock('POST', AUDIO, { body: audioForm(), by: payingFetch(other) });
    expect(heard.status).toBe(200);
  });
});

describe('a body of nothing but brackets', () => {
  it.each([
    ['nested', `{"a":${'['.repeat(500_000)}${']'.repeat(500_000)}}`],
    ['side by side', `{"a":[${'[],'.repeat(300_000)}[]]}`],
  ])('%s: 400 on /graphql and at a paid door, before it is parsed', async (_, body) => {
    const payer = await service.chain.newWallet();
    const headers = await service.payment(payer, CHAT);
    const [graphql, door] = [await service.post('/graphql', body), await service.post(CHAT, body, headers)];
    expect([graphql.status, door.status, door.body.code]).toEqual([400, 400, 'invalid_request']);
    expect((await service.post(CHAT, ask(), headers)).status).toBe(200);
  });
});
