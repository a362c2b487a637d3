import { z } from 'zod';
import { type PageDoor, pageDoor } from '../door.ts';
import { llms } from '../faces/llms.ts';
import { robots, securityTxt, x402List } from '../faces/text-listings.ts';
import { KEPT_FIVE_MINUTES } from './doors.ts';

/** Plain-text listings, made of the table once. */
const listing = {
  methods: ['GET'],
  tags: ['discovery'],
  media: 'text/plain; charset=utf-8',
  is_constant: true,
  cache: KEPT_FIVE_MINUTES,
  response: z.string(),
} as const;

const SECURITY_TXT = '/.well-known/security.txt';

export const listingDoors: readonly PageDoor[] = [
  pageDoor({
    ...listing,
    name: 'get_x402_list',
    path: '/.well-known/x402list.txt',
    summary: 'List the URLs of the endpoints that answer 402 to a request without credentials, one per line',
    page: ({ doors, port }) => x402List(doors, port.base_url),
  }),
  pageDoor({
    ...listing,
    name: 'get_llms_txt',
    path: '/llms.txt',
    summary: 'Get a list of all endpoints for language models: what each does and costs (llms.txt)',
    page: ({ doors, port }) => llms(doors, port.base_url),
  }),
  pageDoor({
    ...listing,
    name: 'get_robots_txt',
    path: '/robots.txt',
    summary: 'Get the rules for crawlers: receipts and refusals are excluded',
    page: ({ doors }) => robots(doors),
  }),
  pageDoor({
    ...listing,
    name: 'get_security_txt',
    path: SECURITY_TXT,
    summary: 'Get the contact for security reports (RFC 9116)',
    page: ({ port }) => securityTxt(port.security, port.base_url + SECURITY_TXT),
  }),
];
