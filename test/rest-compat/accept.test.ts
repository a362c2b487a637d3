import { expect, it } from 'vitest';
import { acceptsByName, bestAccepted, prefers } from '../../rest-compat/http/accept.ts';

const HTML = 'text/html; charset=utf-8';
const JSON_MEDIA = 'application/json; charset=utf-8';

/** Each Accept header of who asks for a receipt, and whether a page is what they want. */
it.each<[who: string, accept: string | undefined, page: boolean]>([
  ['nobody says anything', undefined, false],
  ['curl', '*/*', false],
  ['fetch', '*/*', false],
  ['axios', 'application/json, text/plain, */*', false],
  ['Chromium', 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8', true],
  ['Firefox', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', true],
  ['Safari', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', true],
  ['text alone', 'text/*', true],
  ['HTML alone', 'TEXT/HTML', true],
  ['HTML with a parameter', 'text/html;level=1;q=0.7', true],
  ['both alike', 'text/html, application/json', false],
  ['JSON rather', 'application/json, text/html;q=0.9', false],
  ['JSON a little less', 'application/json;q=0.9, text/html', true],
  ['no HTML', 'text/html;q=0, */*', false],
  ['anything but JSON', 'application/json;q=0, */*;q=0.5', true],
  ['neither', 'image/png', false],
  ['an empty header', '', false],
  ['a weight that is none', 'text/html;q=nine, application/json;q=0.5', true],
])('%s', (_, accept, page) => {
  expect(prefers(accept, HTML, JSON_MEDIA)).toBe(page);
});

const offered = ['application/json', 'application/graphql-response+json', 'text/event-stream'] as const;

it.each<[accept: string | undefined, best: (typeof offered)[number] | null]>([
  [undefined, 'application/json'],
  [' ', 'application/json'],
  ['json', 'application/json'],
  ['*/*', 'application/json'],
  ['*/*, text/event-stream', 'text/event-stream'],
  ['application/graphql-response+json, application/json', 'application/graphql-response+json'],
  ['application/json;q=0.1, text/*;q=0.2', 'text/event-stream'],
  ['application/*;q=0', null],
  ['application/*;q=0, */*', 'text/event-stream'],
  ['application/xml', null],
])('of what is offered Accept: %s likes best %s', (accept, best) => {
  expect(bestAccepted(accept, offered)).toBe(best);
});

it('a wildcard names nothing, and neither does a weight of 0', () => {
  const named = [
    'text/event-stream',
    'a/b, Text/Event-Stream;q=0.1',
    'text/event-stream;q=0',
    'text/*',
    '*/*',
    undefined,
  ];
  expect(named.map(accept => acceptsByName(accept, 'text/event-stream'))).toEqual([
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
});
