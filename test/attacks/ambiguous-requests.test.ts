import { beforeAll, describe, expect, it } from 'vitest';
import { HOST, open, UPGRADE } from '../harness/attacks/raw.ts';
import { CHAT, type Service, sharedService } from '../harness/doors/open-service.ts';

/* Requests that a proxy in front of the service may read differently are refused before their bodies are read. */

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});

const OTHER = 'hOsT: other.example\r\n';
const BODY = 'Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}';

/** All that is received until the connection is closed. */
async function sendRaw(text: string): Promise<string> {
  const connection = await open(service.url);
  connection.socket.write(text);
  await connection.closed;
  return connection.heard;
}

describe('two Host lines', () => {
  it.each([
    ['a page', `GET /livez HTTP/1.1\r\n${HOST}${OTHER}\r\n`],
    ['a door', `POST ${CHAT} HTTP/1.1\r\n${HOST}${OTHER}${BODY}`],
    ['the same host twice', `GET /v1/models HTTP/1.1\r\n${HOST}${HOST}\r\n`],
    ['a path that is not there', `GET /nowhere HTTP/1.1\r\n${HOST}${OTHER}\r\n`],
    ['the graph', `POST /graphql HTTP/1.1\r\n${HOST}${OTHER}${BODY}`],
    ['metrics', `GET /metrics HTTP/1.1\r\n${HOST}${OTHER}\r\n`],
    ['a socket', UPGRADE.replace(HOST, HOST + OTHER)],
  ])('%s: 400, and the connection is closed', async (_, text) => {
    expect(await sendRaw(text)).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('one: served', async () => {
    expect(await sendRaw(`GET /livez HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`)).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('what Node itself refuses', () => {
  it.each([
    ['no Host', 'GET /livez HTTP/1.1\r\n\r\n'],
    ['two lengths', `POST ${CHAT} HTTP/1.1\r\n${HOST}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}x`],
    [
      'a length and chunks',
      `POST ${CHAT} HTTP/1.1\r\n${HOST}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}`,
    ],
    [
      'chunks that are not the last coding',
      `POST /graphql HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n`,
    ],
  ])('%s: 400', async (_, text) => {
    expect(await sendRaw(text)).toMatch(/^HTTP\/1\.1 400 /);
  });
});
