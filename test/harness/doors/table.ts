import { expect } from 'vitest';
import { PaymentRequired } from '../../../rest-compat/answer-shapes.ts';
import { type Door, type DoorMethod, NO_STORE } from '../../../rest-compat/door.ts';
import { everyDoor } from '../../../rest-compat/every-door.ts';
import { openApi } from '../../../rest-compat/faces/openapi.ts';
import { faultForms } from '../../../rest-compat/fault-form.ts';
import { limits } from '../../../schema/limits.ts';
import { type DescribedResponse, withoutReferences, wordsOfEmptyBody } from '../openapi.ts';

/** An answer of an endpoint. */
export interface TableAnswer<T> {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body. Null if the body is empty. */
  readonly body: T;
}

interface OpenApiPaths {
  readonly paths: Record<string, Record<string, { readonly responses: Record<string, DescribedResponse> }>>;
}
const described = withoutReferences(openApi(everyDoor, 'http://127.0.0.1')) as unknown as OpenApiPaths;

const paths = everyDoor.map(door => ({
  door,
  spelt: [door.path, ...door.aliases].map(path => {
    const pattern = path
      .replace(/\./g, '\\.')
      .replace(/\*$/, '.+')
      .replace(/\{\w+\}/g, '[^/]+');
    return new RegExp(`^${pattern}$`);
  }),
}));

/** The row of the door table for a request. Undefined if no row has its path and method. */
export function doorOf(method: string, pathname: string): Door | undefined {
  const isMet = ({ door, spelt }: (typeof paths)[number]) =>
    door.methods.includes(method as DoorMethod) && spelt.some(path => path.test(pathname));
  return paths.find(isMet)?.door;
}

/** Maximum length in bytes of the status line and all headers of an answer. */
export function headersBytesMax(status: number): number {
  return status === 402 ? limits.challenge_headers_bytes_max : limits.answer_headers_bytes_max;
}

/** Checks that a proxy with default settings accepts the headers of this answer, as exactly as a client can measure them. */
export function expectShortHeaders({ status, headers }: Pick<TableAnswer<unknown>, 'status' | 'headers'>): void {
  const lines = [
    `HTTP/1.1 ${status} Payment Required`,
    ...[...headers].map(([name, value]) => `${name}: ${value}`),
    '',
  ];
  const bytes = Buffer.byteLength(lines.map(line => `${line}\r\n`).join(''));
  expect(bytes, lines.join('\n')).toBeLessThan(headersBytesMax(status));
}

/** Headers that the OpenAPI document must list if an answer has them. */
const OURS = /^(x-svc-|x-payment-|payment-|retry-after$|x-should-retry$)/;

/**
 * Checks an answer against the door table. Its status and headers must be described. A successful body must have the endpoint's shape and
 * no further member. A refusal must be a problem document (a signed one if the book refused), a challenge, or an empty body if possession
 * was not proven.
 */
export function expectDescribed(method: string, pathname: string, heard: TableAnswer<unknown>): void {
  const { status, headers, body } = heard;
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  // An answer to OPTIONS only lists the methods (RFC 9110 section 9.3.7).
  if (method === 'OPTIONS') return;
  const door = doorOf(method, pathname);
  const answered = door && described.paths[door.path]?.[method.toLowerCase()]?.responses[status];
  if (answered) {
    const told = Object.keys(answered.headers ?? {}).map(name => name.toLowerCase());
    expect(told).toEqual(expect.arrayContaining([...headers.keys()].filter(name => OURS.test(name))));
  }
  if (door && [door.status, ...door.other_statuses, door.again?.status].includes(status)) {
    expect([door.media, ...door.other_media]).toContain(headers.get('content-type'));
    const unkept = door.unkept_with !== null || door.unkept_for_holders;
    const caches = unkept ? [door.cache, NO_STORE] : [door.cache];
    expect(caches).toContain(headers.get('cache-control'));
    if (typeof body === 'string') return;
    expect(door.response.parse(body)).toEqual(body);
    return;
  }
  if (status === 304) {
    expect([door?.cache, body]).toEqual([headers.get('cache-control'), null]);
    expect(answered).toBeDefined();
    return;
  }
  expect(headers.get('cache-control')).toBe('no-store');
  if (door?.face && body !== null && typeof body === 'object' && 'jsonrpc' in body) {
    expect(answered, `${method} ${door.path} ${status} is not described`).toBeDefined();
    expect(door.face.hasHttpStatus(status), `${status} is not an HTTP error of a call`).toBe(true);
    expect(door.face.fault.parse(body)).toEqual(body);
    return;
  }
  if (door) expect(answered, `${method} ${door.path} ${status} is not described`).toBeDefined();
  if (status === 402) expect(PaymentRequired.parse(body)).toEqual(body);
  else if (body === null) {
    expect([401, 403]).toContain(status);
    if (answered) expect(answered.description, `${method} ${door.path} ${status}`).toMatch(wordsOfEmptyBody(answered));
  } else if (door?.fault_page && headers.get('content-type') === door.fault_page.media)
    expect(headers.get('content-security-policy')).toBe(door.fault_page.headers['content-security-policy']);
  else {
    const { media, shape } = faultForms[door?.faults ?? 'problem'];
    expect(headers.get('content-type')).toBe(`${media}; charset=utf-8`);
    if (answered) expect(answered.content, `${method} ${door.path} ${status}`).toHaveProperty([media]);
    const refuses = status === 403 ? door?.refusal : null;
    expect((refuses ?? shape).parse(body)).toEqual(body);
    expect(body).toMatchObject({ status });
  }
}
