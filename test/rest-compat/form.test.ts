import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { everyDoor } from '../../rest-compat/every-door.ts';
import { doorServerOptions } from '../../rest-compat/http/server-options.ts';
import { limits } from '../../schema/limits.ts';
import { Uploads } from '../../subgraphs/uploads.ts';
import { withoutReferences } from '../harness/openapi.ts';
import { openRestFixture, payment, type RestFixture, succeed } from '../harness/rest-compat/fake-port.ts';

const AUDIO = '/v1/audio/transcriptions';
const ROOM = 4 * 1024 * 1024;
const BOUNDARY = 'xxBOUNDARYxx';

let house: RestFixture;
let impatient: RestFixture;
beforeAll(async () => {
  house = await openRestFixture();
  house.port.uploads = new Uploads({ bytes_max: ROOM, unasked_ms_max: 60_000 });
  impatient = await openRestFixture(everyDoor, {
    requestTimeout: 200,
    http: { ...doorServerOptions.http, headersTimeout: 100, connectionsCheckingInterval: 50 },
  });
  succeed(house.port, { answer: { text: 'Hello' } });
});
afterAll(() => Promise.all([house.close(), impatient.close()]));

/** After each test, whatever its result, all room is free again. */
afterEach(async () => {
  const fits = () => {
    const all = house.port.uploads.begin('all');
    const taken = all.take(new Uint8Array(ROOM));
    all.release();
    return taken;
  };
  await expect.poll(fits).toBe(true);
});

type Part = readonly [disposition: string, content: string | Buffer, type?: string];

function form(...parts: readonly Part[]): Buffer<ArrayBuffer> {
  const pieces = parts.flatMap(([disposition, content, type]) => [
    `--${BOUNDARY}\r\nContent-Disposition: form-data; ${disposition}\r\n`,
    type === undefined ? '\r\n' : `Content-Type: ${type}\r\n\r\n`,
    content,
    '\r\n',
  ]);
  return Buffer.concat([...pieces, `--${BOUNDARY}--\r\n`].map(piece => Buffer.from(piece)));
}

const file: Part = ['name="file"; filename="a.wav"', 'RIFF', 'audio/wav'];
const TYPE = `multipart/form-data; boundary=${BOUNDARY}`;

async function send(body: RequestInit['body'], type = TYPE, more: RequestInit = {}, headers = {}) {
  const answer = await fetch(house.url + AUDIO, {
    method: 'POST',
    headers: { 'content-type': type, 'PAYMENT-SIGNATURE': payment, ...headers },
    body: body ?? null,
    ...more,
  });
  const told = await answer.text();
  return { status: answer.status, ...(JSON.parse(told) as { code?: string; detail?: string }) };
}

/** A request that announces its length, and sends only part of itself. */
async function begin(to: RestFixture, of: { length: number; sent: string | Buffer; paid?: boolean }): Promise<Socket> {
  const socket = connect(to.socket_port, '127.0.0.1');
  await once(socket, 'connect');
  const paid = of.paid === false ? '' : `PAYMENT-SIGNATURE: ${payment}\r\n`;
  socket.write(`POST ${AUDIO} HTTP/1.1\r\nhost: x\r\n${paid}content-type: ${TYPE}\r\n`);
  socket.write(`content-length: ${of.length}\r\n\r\n`);
  socket.write(of.sent);
  return socket;
}

/** Fields as the operation received them. */
const input = () => (house.port.calls.at(-1)?.variables.input ?? {}) as Record<string, unknown>;

describe(`POST ${AUDIO} reads a form`, () => {
  it('and hands on the id of its file, and each field as the JSON of the same request would say it', async () => {
    const said: Part[] = [
      ['name="language"', 'de'],
      ['name="temperature"', '0.25'],
      ['name="prompt"', 'Größe 🧾'],
      ['name="svc[failover]"', 'false'],
      ['name="intent_id"', '7'],
    ];
    expect((await send(form(...said, file))).status).toBe(200);
    expect(input()).toEqual({
      file: { upload: 'an-upload', format: 'wav' },
      model: 'svc/auto',
      language: 'de',
      temperature: 0.25,
      prompt: 'Größe 🧾',
      responseFormat: 'json',
      svc: { failover: false },
      intentId: '7',
      attemptIndex: null,
    });
  });

  it.each<[string, Part]>([
    ['in brackets', ['name="svc[failover]"', 'false']],
    ['as a part of JSON', ['name="svc"', '{"failover":false}', 'application/json']],
  ])('whose members of an object stand %s, and whose list of one by its name or its items', async (_, svc) => {
    for (const name of ['timestamp_granularities', 'timestamp_granularities[]']) {
      const said: Part[] = [svc, [`name="${name}"`, 'segment'], ['name="response_format"', 'verbose_json']];
      expect((await send(form(...said, file))).status).toBe(200);
      expect(input()).toMatchObject({ svc: { failover: false }, responseFormat: 'verbose_json' });
    }
    for (const part of ['false', '{"failover":false,"failover":true}'])
      expect(await send(form(['name="svc"', part], file))).toMatchObject({ status: 400, code: 'invalid_request' });
  });

  it.each<[string, Part[]]>([
    ['before', [['name="file[upload]"', 'of another'], ['name="file[name]"', 'b.mp3'], file]],
    ['behind', [file, ['name="file[upload]"', 'of another'], ['name="file[name]"', 'b.mp3']]],
  ])('and no field that comes %s a file changes what is said of it', async (_, parts) => {
    expect((await send(form(...parts))).status).toBe(200);
    expect(input().file).toEqual({ upload: 'an-upload', format: 'wav' });
  });

  it('of any bytes, cut anywhere: the file arrives as it was', async () => {
    const cut = fc.tuple(fc.uint8Array({ minLength: 1, maxLength: 3_000 }), fc.integer({ min: 1, max: 700 }));
    await fc.assert(
      fc.asyncProperty(cut, async ([bytes, length]) => {
        let heard: Buffer | undefined;
        const { execute } = house.port;
        house.port.execute = async function (...all) {
          heard = this.uploads.open('an-upload')?.bytes;
          return execute.apply(this, all);
        };
        try {
          const whole = form(['name="file"; filename="a.wav"', Buffer.from(bytes), 'audio/wav']);
          const pieces = Array.from({ length: Math.ceil(whole.length / length) }, (_, index) =>
            whole.subarray(index * length, (index + 1) * length),
          );
          const answer = await send(ReadableStream.from(pieces), TYPE, { duplex: 'half' } as RequestInit);
          expect(answer.status).toBe(200);
          expect(heard?.equals(bytes)).toBe(true);
        } finally {
          house.port.execute = execute;
        }
      }),
      { numRuns: 50 },
    );
  });

  it('with something behind its last boundary: read away, and no part of it', async () => {
    const whole = Buffer.concat([form(file), Buffer.from('an epilogue, as RFC 2046 calls it')]);
    expect((await send(whole)).status).toBe(200);
  });
});

const many = Array.from({ length: limits.upload_fields_max + 1 }, (_, index): Part => [`name="f${index}"`, 'x']);

describe(`POST ${AUDIO} refuses a form, and runs nothing`, () => {
  it.each<[number, string, string, () => RequestInit['body'], string?]>([
    [400, 'invalid_request', 'without a boundary', () => form(file), 'multipart/form-data'],
    [400, 'invalid_request', 'with an empty boundary', () => form(file), 'multipart/form-data; boundary='],
    [
      400,
      'invalid_request',
      'with an endless one',
      () => form(file),
      `multipart/form-data; boundary=${'x'.repeat(71)}`,
    ],
    [400, 'invalid_request', 'that is empty', () => ''],
    [400, 'invalid_request', 'that is junk', () => 'junk'],
    [400, 'invalid_request', 'of another boundary', () => form(file), 'multipart/form-data; boundary=other'],
    [400, 'invalid_request', 'that breaks off in its file', () => form(file).subarray(0, -30)],
    [400, 'invalid_request', 'that breaks off in a header', () => form(file).subarray(0, 40)],
    [400, 'invalid_request', 'without a file', () => form(['name="model"', 'x'])],
    [400, 'invalid_request', 'whose file is a field', () => form(['name="file"', 'RIFF'])],
    [400, 'invalid_request', 'whose file is made of fields', () => form(['name="file[upload]"', 'an-upload'])],
    [400, 'invalid_request', 'whose file goes by another name', () => form(['name="f"; filename="a.wav"', 'RIFF'])],
    [400, 'invalid_request', 'whose file is empty', () => form(['name="file"; filename="a.wav"', ''])],
    [400, 'invalid_request', 'with two files', () => form(file, file)],
    [400, 'invalid_request', 'with a field twice', () => form(['name="model"', 'a'], ['name="model"', 'b'], file)],
    [400, 'invalid_request', 'with a field without a name', () => form(['x="y"', 'a'], file)],
    [400, 'invalid_request', 'with too many fields', () => form(...many, file)],
    [400, 'invalid_request', 'with endless parts that say nothing', () => `--${BOUNDARY}\r\n\r\nx\r\n`.repeat(50_000)],
    [413, 'request_too_large', 'with a long field', () => form(['name="prompt"', 'x'.repeat(20_000)], file)],
    [415, 'unsupported_media_type', 'that is JSON', () => '{}', 'application/json'],
    [415, 'unsupported_media_type', 'of mixed parts', () => form(file), `multipart/mixed; boundary=${BOUNDARY}`],
    [
      503,
      'unavailable',
      'for which there is no room beside the others',
      () => form(['name="file"; filename="a.wav"', Buffer.alloc(ROOM + 1)]),
    ],
  ])('%i %s %s', async (status, code, _, body, type = TYPE) => {
    const before = house.port.calls.length;
    const answer = await send(body(), type);
    expect({ status: answer.status, code: answer.code, detail: answer.detail }).toEqual({
      status,
      code,
      detail: expect.any(String),
    });
    expect(house.port.calls).toHaveLength(before);
  });

  it('415 with a coding, 413 by what it says of its length, both unread', async () => {
    const coded = await send(form(file), TYPE, {}, { 'content-encoding': 'gzip' });
    expect(coded).toMatchObject({
      status: 415,
      detail: 'The body must be multipart/form-data, uncompressed, with no charset but UTF-8.',
    });
    const socket = await begin(house, { length: limits.upload_form_bytes_max + 1, sent: '' });
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 413 /);
  });

  it('402 unpaid, with the body unread', async () => {
    const socket = await begin(house, { length: 20_000_000, sent: '', paid: false });
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 402 /);
  });

  it('408 where it does not come whole in time', async () => {
    const socket = await begin(impatient, { length: 90_000, sent: form(file).subarray(0, 150) });
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 408 /);
  });

  it('and goes on where its sender leaves in the midst of the file', async () => {
    const socket = await begin(house, { length: 90_000, sent: form(file).subarray(0, 150) });
    socket.on('error', () => {}).destroy();
    expect((await send(form(file))).status).toBe(200);
  });
});

it('OpenAPI tells of the form and of its file', async () => {
  const document = withoutReferences(await (await house.get('/openapi.json')).json()) as {
    paths: Record<
      string,
      { post: { requestBody: { content: Record<string, { schema: object }> }; responses: object } }
    >;
    components: { schemas: Record<string, object> };
  };
  const { requestBody, responses } = document.paths[AUDIO]?.post ?? {};
  expect(Object.keys(requestBody?.content ?? {})).toEqual(['multipart/form-data']);
  const form = { $ref: '#/components/schemas/TranscribeAudioRequest' };
  expect(requestBody?.content['multipart/form-data']?.schema).toEqual(form);
  expect(document.components.schemas.TranscribeAudioRequest).toMatchObject({
    properties: {
      file: { type: 'string', contentMediaType: 'application/octet-stream' },
      temperature: expect.anything(),
      svc: expect.anything(),
    },
    required: ['file'],
  });
  expect(responses).toMatchObject({ 200: { content: { 'text/plain': { schema: { type: 'string' } } } } });
});
