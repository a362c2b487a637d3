import { beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import type { ImageAnswer } from '../../rest-compat/inference/answers.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { limits } from '../../schema/limits.ts';
import { payingFetch } from '../harness/buyer.ts';
import { onGraph } from '../harness/doors/on-graph.ts';
import { openService, type ReceiptBody, resetHubsBeforeEach, type Service } from '../harness/doors/open-service.ts';
import { testPaidDoor } from '../harness/doors/paid-door.ts';

const IMAGES = '/v1/images/generations';
type Answer = Omit<z.infer<typeof ImageAnswer>, 'svc'> & { readonly svc: ReceiptBody };

let service: Service;
beforeAll(async () => {
  service = await openService({}, { media: true });
});
resetHubsBeforeEach(() => service);

async function buy(body: JsonObject) {
  const payer = await service.chain.newWallet();
  const heard = await service.knock<Answer>('POST', IMAGES, { body, by: payingFetch(payer) });
  return { ...heard, payer };
}

const PNG = '89504e470d0a1a0a';

describe(`POST ${IMAGES} 200`, () => {
  it('by the official x402 client: a picture by its bytes, and its receipt', async () => {
    const { status, body, headers, payer } = await buy({ prompt: 'A lighthouse', response_format: 'b64_json' });
    expect(status).toBe(200);
    const { svc, data, created } = body;
    expect(data).toEqual([{ b64_json: expect.any(String), revised_prompt: expect.stringContaining('-image on ') }]);
    expect(
      Buffer.from(data[0]?.b64_json ?? '', 'base64')
        .subarray(0, 8)
        .toString('hex'),
    ).toBe(PNG);
    expect(created).toBeGreaterThan(1_700_000_000);
    expect(headers.get('x-svc-model')).toMatch(/-image$/);
    expect(svc).toMatchObject({
      settlement_status: 'settled',
      payload: { job_kind: 'other', fulfillment: { output_commitment: { status: 'committed', kind: 'sha256' } } },
    });
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it('where it is asked for by URL: where the hub keeps it', async () => {
    const { body } = await buy({ prompt: 'By URL', response_format: 'url', model: 'beta-image' });
    const url = body.data[0]?.url ?? '';
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1\/images\/[0-9a-f]{6}\.png$/);
    expect(body.data).toEqual([{ url, revised_prompt: expect.any(String) }]);
  });

  it('the hub gets what was asked for and nothing else', async () => {
    const asked = { model: 'beta-image', prompt: 'A fox', n: 1, size: '512x1024', response_format: 'b64_json' };
    const { status } = await buy({ ...asked, user: 'me', intent_id: 'i', attempt_index: 1, stream: false });
    expect(status).toBe(200);
    const heard = service.hubs[1].requests.at(-1);
    expect(heard).toMatchObject({ path: '/v1/images/generations', body: asked });
    expect(Object.keys(heard?.body as object).sort()).toEqual(Object.keys(asked).sort());
  });

  it('by bytes of several megabytes: delivered whole, and once more to the same payment', async () => {
    const b64_json = Buffer.alloc(8 * 1024 * 1024, 'large').toString('base64');
    service.hubs[1].behave({ kind: 'status', status: 200, body: { data: [{ b64_json }] } });
    const payer = await service.chain.newWallet();
    const payment = await service.payment(payer, IMAGES);
    const send = () => service.post<Answer>(IMAGES, { prompt: 'Large', model: 'beta-image' }, payment);
    for (const settled of ['settled', 'idempotent_replay']) {
      const { status, headers, body } = await send();
      const { code } = body as { readonly code?: string };
      expect([status, code, headers.get('x-svc-settlement-status')]).toEqual([200, undefined, settled]);
      expect(body.data[0]?.b64_json === b64_json).toBe(true);
    }
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it('from the other hub where one fails; 502 where that is not wanted', async () => {
    service.hubs[0].behave({ kind: 'status', status: 500 });
    service.hubs[1].behave({ kind: 'answer' });
    const { body } = await buy({ prompt: 'Elsewhere' });
    expect(body.svc).toMatchObject({ hub: 'beta', model: 'beta-image' });
    for (const hub of service.hubs) hub.behave({ kind: 'status', status: 500 });
    const { status, payer } = await buy({ prompt: 'Nowhere', svc: { failover: false } });
    expect(status).toBe(502);
    expect(await service.transfersFrom(payer)).toEqual([]);
  });
});

it('createImage 200 on the graph: its hub, and the receipt that it leads to', async () => {
  const query =
    'mutation { createImage(input: { model: "beta-image", prompt: "Both" }) { hub svc receipt { taskId } } }';
  const { data } = await onGraph<{ createImage: { svc: ReceiptBody } }>(
    service,
    query,
    {},
    { 'X-API-Key': 'a-live-key' },
  );
  expect(data?.createImage).toMatchObject({ hub: 'beta', receipt: { taskId: data?.createImage.svc.task_id } });
});

it('createImage on the graph: its bytes once, and 400 for them twice', async () => {
  const asking = (selection: string) =>
    onGraph<{ it: { data: JsonObject[] } }>(
      service,
      `mutation { it: createImage(input: { model: "beta-image", prompt: "Bytes", responseFormat: "b64_json" }) { ${selection} created model hub svc receipt { taskId } } }`,
      {},
      { 'X-API-Key': 'a-live-key' },
    );
  const once = await asking('data { b64Json url revisedPrompt }');
  expect(once.data?.it.data).toMatchObject([{ b64Json: expect.stringMatching(/^[A-Za-z0-9+/]+=*$/) }]);
  for (const twice of ['data { one: b64Json two: b64Json }', 'one: data { b64Json } two: data { b64Json }']) {
    const { data, errors } = await asking(twice);
    expect(data ?? null).toBeNull();
    expect(errors).toMatchObject([{ extensions: { code: 'query_too_costly', limit: 'cost' } }]);
  }
});

it(`POST ${IMAGES} 200 by a live key: no payment, and a receipt that names none`, async () => {
  const heard = await service.post<Answer>(IMAGES, { prompt: 'By key' }, { 'X-API-Key': 'a-live-key' });
  expect(heard).toMatchObject({ status: 200, body: { svc: { waived_by: 'live_key', payment_ref: null } } });
});

it(`POST ${IMAGES} 200 where the answer was lost in a crash: the same payment has it made once more, free`, async () => {
  const payer = await service.chain.newWallet();
  const payment = await service.payment(payer, IMAGES);
  const body = { prompt: 'Lost', model: 'beta-image' };
  const first = await service.post<Answer>(IMAGES, body, payment);
  await service.query('update payment_claim set answer_box = null where task_id = $1', [first.body.svc.task_id]);
  const before = service.hubs[1].requests.length;
  const again = await service.post<Answer>(IMAGES, body, payment);
  expect(again.body).toMatchObject({ data: first.body.data, svc: { settlement_status: 'idempotent_replay' } });
  expect(again.body.svc.issuer_signature).toEqual(first.body.svc.issuer_signature);
  expect(service.hubs[1].requests).toHaveLength(before + 1);
  expect(await service.transfersFrom(payer)).toHaveLength(1);
});

describe(`POST ${IMAGES} 502, and nothing is charged for no image`, () => {
  const image = { b64_json: 'aGVsbG8=' };
  it.each<[string, string, JsonObject | string]>([
    ['nothing', 'not_an_image', { created: 1, data: [] }],
    ['two images', 'not_an_image', { data: [image, image] }],
    ['bytes that are none', 'not_an_image', { data: [{ b64_json: 'not base64!' }] }],
    ['bytes where a URL was asked for', 'not_an_image', { data: [image] }],
    ['a URL that is code', 'not_an_image', { data: [{ url: 'javascript:alert(1)' }] }],
    ['a URL that has no canonical form', 'not_an_image', { data: [{ url: 'https://hub.example/\ud800' }] }],
    ['a URL that is the image', 'not_an_image', { data: [{ url: 'data:image/png;base64,aGVsbG8=' }] }],
    ['more than is kept', 'too_large', { data: [{ b64_json: 'x'.repeat(limits.image_answer_bytes_max) }] }],
  ])('where the hubs answer with %s; the payment pays when it is sent again', async (_, reason, bad) => {
    const payer = await service.chain.newWallet();
    const payment = await service.payment(payer, IMAGES);
    const body = { prompt: 'Hello', response_format: 'url', model: 'beta-image' };
    service.hubs[1].behave({ kind: 'status', status: 200, body: bad });
    const failed = await service.post(IMAGES, body, payment);
    expect(failed).toMatchObject({ status: 502, body: { charged: false, attempts: [{ hub: 'beta', reason }] } });
    expect(await service.transfersFrom(payer)).toEqual([]);
    service.hubs[1].behave({ kind: 'answer' });
    expect((await service.post(IMAGES, body, payment)).status).toBe(200);
  });
});

testPaidDoor(() => service, {
  path: IMAGES,
  job_kind: 'other',
  body: (_, name) => ({ prompt: name }),
  wrong: [
    ['prompt', { prompt: '' }],
    ['prompt', { prompt: 7 }],
    ['prompt', { prompt: 'x'.repeat(limits.image_prompt_chars_max + 1) }],
    ['model', { model: 'alpha-1' }],
    ['model', { model: 'nobody-1' }],
    ['n', { n: 2 }],
    ['n', { n: 0 }],
    ['size', { size: 'large' }],
    ['size', { size: '1024x' }],
    ['size', { size: '63x64' }],
    ['size', { size: '64x2049' }],
    ['response_format', { response_format: 'png' }],
    ['stream', { stream: true }],
    ['quality', { quality: 'hd' }],
    ['style', { style: 'natural' }],
    ['background', { background: 'transparent' }],
    ['output_format', { output_format: 'webp' }],
    ['image', { image: 'aGVsbG8=' }],
    ['mask', { mask: 'aGVsbG8=' }],
  ],
});
