import { EventEmitter, once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ratesOf } from '../../../gateway/config/rates.ts';
import { ByteQuota } from '../../../gateway/rates/rates.ts';
import { everyDoor } from '../../../rest-compat/every-door.ts';
import { bounds } from '../../../rest-compat/faces/mcp/bounds.ts';
import { type FileMessage, FileMessages } from '../../../rest-compat/faces/mcp/file-messages.ts';
import { readJson } from '../../../rest-compat/http/body.ts';
import { limits } from '../../../schema/limits.ts';
import { toolCall } from '../../harness/mcp-message.ts';
import { openRestFixture, type RestFixture, succeed } from '../../harness/rest-compat/fake-port.ts';

/* Messages with files are read before anybody has paid for them: who gets room, and for how long. */

const paid = { 'x402/payment': { x402Version: 2 } };
const named = (bytes: number) => ({ name: 'a.wav', base64: Buffer.alloc(bytes, 7).toString('base64') });
const transcribe = (bytes: number, meta = {}) =>
  JSON.stringify(toolCall('transcribe_audio', { model: 'm', file: named(bytes) }, { ...paid, ...meta }));
/** The size of the file in the shortest message that must find room. */
const SHORT = Math.ceil((3 * bounds.message_bytes_max) / 4);
const short = transcribe(SHORT);

let house: RestFixture;
/** Bytes of the messages of a test that were read. */
let read_bytes = 0;
const haveCome = async (bytes: number) => {
  while (read_bytes < bytes) await new Promise(setImmediate);
};
class WatchedMessages extends FileMessages {
  override async begin(...from: Parameters<FileMessages['begin']>) {
    const file = await super.begin(...from);
    const take = (bytes: number) => {
      read_bytes += bytes;
      return file?.take(bytes) ?? false;
    };
    return file && { ...file, take };
  }
}
const opened: ClientRequest[] = [];
const houseWith = async (files: FileMessages = new WatchedMessages()) => {
  read_bytes = 0;
  house = await openRestFixture(everyDoor, {}, new Set(), files);
  succeed(house.port, { answer: { text: 'said' } });
};
const close = async () => {
  for (const each of opened.splice(0)) each.destroy();
  await house.close();
};

/** A message that is still to be sent, from an address of its own; all of 127.0.0.0/8 is this machine. */
function begin(address: string, length: number): ClientRequest {
  const begun = request({
    host: '127.0.0.1',
    port: house.socket_port,
    localAddress: address,
    path: '/mcp',
    method: 'POST',
    agent: false,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'content-length': length,
    },
  });
  opened.push(begun);
  // A refused or broken message ends with a closed connection.
  return begun.on('error', () => {});
}

async function readAnswer(sent: ClientRequest) {
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  let text = '';
  for await (const piece of answer.setEncoding('utf8')) text += piece;
  return { status: answer.statusCode, headers: answer.headers, text };
}

const send = (address: string, text = short) => readAnswer(begin(address, Buffer.byteLength(text)).end(text));
const transcribed = () => house.port.calls.filter(({ operation }) => operation === 'transcribe_audio').length;
/** Sends again until that status is answered, because a released message may not have been noticed yet. */
async function sendUntil(status: number, address: string) {
  let answer = await send(address);
  while (answer.status !== status) answer = await send(address);
  return answer;
}

/** A barrier that a judge or a resolver waits at. */
function gate() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { open: resolve, closed: promise };
}

describe('with room for all that there may be', () => {
  beforeEach(() => houseWith());
  afterEach(close);

  it('lengths that are merely said take no room: more than all of it may be announced, and a file is taken', async () => {
    const announced = Math.ceil(bounds.file_messages_bytes_max / bounds.file_message_bytes_max) + 2;
    for (let at = 0; at < announced; at += 1) begin(`127.0.1.${at + 1}`, bounds.file_message_bytes_max).flushHeaders();
    expect((await send('127.0.0.2')).status).toBe(200);
    expect(transcribed()).toBe(1);
  });

  it('several of one address at once: each waits for its turn, and all are taken', async () => {
    const answers = await Promise.all(Array.from({ length: 3 }, () => send('127.0.0.2')));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(transcribed()).toBe(3);
  });

  it('429 beyond as many as may wait, with when to ask again; another address has its own line', async () => {
    const all = Array.from({ length: bounds.file_line_max + 2 }, () => begin('127.0.0.2', Buffer.byteLength(short)));
    for (const each of all) each.flushHeaders();
    const refused = await Promise.race(all.map(readAnswer));
    expect(refused).toMatchObject({
      status: 429,
      headers: { 'retry-after': '1' },
      text: expect.stringContaining('same payment'),
    });
    expect((await send('127.0.0.3')).status).toBe(200);
  });

  it('whoever stands in line moves up when the one before breaks off', async () => {
    const first = begin('127.0.0.2', Buffer.byteLength(short));
    first.write(short.slice(0, -1));
    await haveCome(1);
    const second = send('127.0.0.2');
    first.destroy();
    expect((await second).status).toBe(200);
  });

  it('413 with more beside a file than a form could bring, or with no file that the tool would take', async () => {
    const junk = 'x'.repeat(bounds.message_bytes_max);
    const beside = await send('127.0.0.2', transcribe(3, { junk }));
    expect(beside.text).toContain('request_too_large');
    const unasked = await send('127.0.0.2', JSON.stringify(toolCall('get_jwks', {}, { junk })));
    expect(unasked.text).toContain('request_too_large');
    expect(transcribed()).toBe(0);
  });

  it('a request keeps nothing of its body, nor any ear for it, once that was read', async () => {
    const request = Object.assign(Readable.from([Buffer.from('{"a":'), Buffer.from('1}')]), { headers: {} });
    const before = request.eventNames();
    expect(await readJson(request as unknown as IncomingMessage, 100)).toEqual({ kind: 'json', value: { a: 1 } });
    expect(request.eventNames()).toEqual(before);
  });

  it('a file of the largest size comes within what production has room for, beside other bodies of its address', async () => {
    const room = new ByteQuota(ratesOf({}, 'production').bodies_bytes_max);
    room.hold('127.0.0.2', limits.request_bytes_max);
    house.port.rates.hold = (address, bytes) => room.hold(address, bytes);
    expect(await send('127.0.0.2', transcribe(limits.upload_file_bytes_max))).toMatchObject({
      status: 200,
      text: expect.stringContaining('"structuredContent":{"text":"said"}'),
    });
  });
});

describe('with room for one', () => {
  beforeEach(() => houseWith(new WatchedMessages(Buffer.byteLength(short) + 1_000)));
  afterEach(close);

  it('whoever is still sending makes room for who comes, and hears 503 with when to ask again', async () => {
    const first = begin('127.0.0.2', Buffer.byteLength(short));
    const cut = readAnswer(first);
    first.write(short.slice(0, -1));
    await haveCome(Buffer.byteLength(short) - 1);
    expect((await send('127.0.0.3')).status).toBe(200);
    expect(await cut).toMatchObject({
      status: 503,
      headers: { 'retry-after': '1' },
      text: expect.stringContaining('same payment'),
    });
    expect((await send('127.0.0.2')).status).toBe(200);
  });

  it.each([
    ['in one piece', {}],
    ['in events', { progressToken: 'p' }],
  ])('answered %s: it has its room until its file has gone on, not until it was read', async (_, meta) => {
    const judged = gate();
    const executed = gate();
    const { judge, execute } = house.port;
    let judging = 0;
    house.port.judge = async shown => {
      judging += 1;
      if (judging === 1) await judged.closed;
      return judge.call(house.port, shown);
    };
    house.port.execute = async operation => {
      if (judging === 1) await executed.closed;
      return execute.call(house.port, operation);
    };
    const first = send('127.0.0.2', transcribe(SHORT, meta));
    while (judging === 0) await new Promise(setImmediate);
    expect((await send('127.0.0.3')).status).toBe(503);
    judged.open();
    expect((await sendUntil(200, '127.0.0.3')).status).toBe(200);
    expect(transcribed()).toBe(1);
    executed.open();
    expect((await first).text).toContain('"structuredContent":{"text":"said"}');
    expect(transcribed()).toBe(2);
  });

  it.each([
    ['is not paid for', () => transcribe(SHORT).replace('x402/payment', 'nothing')],
    ['is for another tool', () => short.replace('transcribe_audio', 'chat_completions')],
    ['is no JSON', () => short.replace('{', '[')],
    [
      'asks how it is coming along and is not paid for',
      () => transcribe(SHORT, { progressToken: 'p' }).replace('x402/payment', 'nothing'),
    ],
  ])('what %s gives its room back as it is answered', async (_, text) => {
    await send('127.0.0.2', text());
    expect(transcribed()).toBe(0);
    expect((await send('127.0.0.2')).status).toBe(200);
    expect(transcribed()).toBe(1);
  });
});

describe('the room of messages with files', () => {
  it('holds what has come and no more than it may, the oldest of what is not whole goes first, and all is given back once', async () => {
    const address = fc.constantFrom('10.0.0.1', '10.0.0.2', '10.0.0.3');
    const step = fc.tuple(
      fc.constantFrom('begin', 'take', 'whole', 'release'),
      address,
      fc.integer({ max: 60, min: 0 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async steps => {
        const files = new FileMessages(100);
        const held = new Map<string, ModelledMessage>();
        for (const [kind, sender, bytes] of steps) {
          const mine = held.get(sender);
          if (!mine) {
            const file = kind === 'begin' ? await files.begin(sender) : null;
            if (file) held.set(sender, { file, bytes: 0, whole: false, lost: false });
          } else if (kind === 'take') {
            expect(mine.file.take(bytes)).toBe(takes(mine, bytes, [...held.values()]));
          } else if (kind === 'whole') {
            mine.file.markComplete();
            mine.whole = true;
          } else if (kind === 'release') {
            mine.file.release();
            mine.file.release();
            held.delete(sender);
            expect(mine.file.take(1)).toBe(false);
          }
          for (const { file, lost } of held.values()) expect(file.lost.aborted).toBe(lost);
        }
        for (const { file } of held.values()) file.release();
        expect((await files.begin('10.0.0.1'))?.take(100)).toBe(true);
      }),
    );
  });

  it('a customer of IPv6 is one sender, whichever of his addresses he sends from', async () => {
    const files = new FileMessages(100, 0);
    expect(await files.begin('2001:db8::1')).not.toBeNull();
    expect(await files.begin('2001:db8::2')).toBeNull();
    expect(await files.begin('2001:db8:0:1::1')).not.toBeNull();
  });

  it('gives no turn to whom has waited for too long or has left, and each to the next that stands there', async () => {
    const files = new FileMessages(100);
    const gone = new EventEmitter();
    const first = await files.begin('10.0.0.1');
    const second = files.begin('10.0.0.1', gone);
    const third = files.begin('10.0.0.1');
    gone.emit('close');
    expect(await second).toBeNull();
    first?.release();
    expect((await third)?.take(100)).toBe(true);
  });
});

interface ModelledMessage {
  readonly file: FileMessage;
  bytes: number;
  whole: boolean;
  lost: boolean;
}

/** The promised rule: whether a hundred find room, and which message gives way. */
function takes(mine: ModelledMessage, bytes: number, all: readonly ModelledMessage[]): boolean {
  const sum = (of: readonly ModelledMessage[]) => of.reduce((total, each) => total + each.bytes, 0);
  const here = all.filter(({ lost }) => !lost);
  const others = here.filter(each => each !== mine && !each.whole && each.bytes > 0);
  if (mine.lost || sum(here) - sum(others) + bytes > 100) return false;
  while (sum(here.filter(({ lost }) => !lost)) + bytes > 100) {
    const oldest = others.shift();
    if (oldest) oldest.lost = true;
  }
  mine.bytes += bytes;
  return true;
}
