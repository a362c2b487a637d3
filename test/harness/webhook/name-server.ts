import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { openResolve } from '../../../gateway/webhooks/look-up.ts';
import { atEnd } from '../release.ts';

const QUESTION_AT = 12;
const TYPES: Readonly<Record<number, 'A' | 'AAAA'>> = { 1: 'A', 28: 'AAAA' };

/**
 * A DNS server on loopback. `answerOf` returns the bytes of the address for a query type: none for an empty answer, null to send no answer.
 */
export async function openNameServer(answerOf: (type: 'A' | 'AAAA') => readonly number[] | null) {
  let asked = 0;
  const socket = createSocket('udp4');
  socket.on('message', (question, from) => {
    asked++;
    const end = question.indexOf(0, QUESTION_AT) + 5;
    const address = answerOf(TYPES[question.readUInt16BE(end - 4)] ?? 'A');
    if (address === null) return;
    const head = Buffer.from(question.subarray(0, QUESTION_AT));
    head.writeUInt16BE(0x8180, 2);
    for (const [at, count] of [1, address.length === 0 ? 0 : 1, 0, 0].entries()) head.writeUInt16BE(count, 4 + 2 * at);
    // The name of the question, its type and class, a TTL of an hour, and the address (RFC 1035 section 4.1.3).
    const found = [0xc0, QUESTION_AT, ...question.subarray(end - 4, end), 0, 0, 14, 16, 0, address.length, ...address];
    const answer = Buffer.concat([
      head,
      question.subarray(QUESTION_AT, end),
      Buffer.from(address.length === 0 ? [] : found),
    ]);
    socket.send(answer, from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  atEnd(async () => void socket.close());
  return { resolve: openResolve([`127.0.0.1:${socket.address().port}`]), asked: () => asked };
}
