import { z } from 'zod';
import type { JsonObject } from '../../schema/canonical-json.ts';
import type { Columns, Door, DoorMethod } from '../door.ts';
import {
  bookSession,
  idempotencyKey,
  ifNoneMatch,
  namedBook,
  proofNonce,
  redelivery,
  routerKey,
  sessionHeader,
  shownProof,
} from './openapi-parameters.ts';
import { content, isKept, responses } from './openapi-responses.ts';
import { ComponentSchemas } from './openapi-schemas.ts';
import { byKey, security, securitySchemes } from './openapi-security.ts';

/** OpenAPI 3.1 of the door table: a door's columns are all that is known of it. */
export function openApi(doors: readonly Door[], base_url: string): JsonObject {
  const schemas = new ComponentSchemas();
  const paths = Object.fromEntries(
    [...Map.groupBy(doors, door => door.path)].map(([path, here]) => [path, pathItem(here, schemas)]),
  );
  return {
    openapi: '3.1.0',
    info: {
      title: 'Spend receipt gateway',
      version: '1.0.0',
      license: { name: 'MIT', identifier: 'MIT' },
      description:
        'Paid doors answer 402 with their price before they look at a body; pay by x402 and send it again. OPTIONS at any ' +
        'path: 204, with its methods in Allow and, to a page of another origin, with what it may send. Each answer has an ' +
        'x-request-id.',
    },
    servers: [{ url: base_url }],
    tags,
    paths,
    components: { securitySchemes, schemas: schemas.all() },
  };
}

/** In the order in which a newcomer meets them. */
const tags: readonly JsonObject[] = [
  { name: 'inference', description: 'Work of models, each answer with a signed spend receipt.' },
  { name: 'tasks', description: 'Tasks taken on for a price, and what they would come to.' },
  { name: 'registration', description: 'Agents, each with a book.' },
  { name: 'book', description: 'What an agent has spent and may spend, open to whoever possesses it.' },
  { name: 'receipts', description: 'Receipts, refusals and settlements, public by their ids.' },
  { name: 'discovery', description: 'Keys, histories, prices, and how the service is.' },
];

function pathItem(here: readonly Door[], schemas: ComponentSchemas): JsonObject {
  return Object.fromEntries(
    here.flatMap(door => door.methods.map(method => [method.toLowerCase(), operation(door, method, schemas)])),
  );
}

function operation(door: Door, method: DoorMethod, schemas: ComponentSchemas): JsonObject {
  const sole = door.methods[0] === method;
  const takesBody = method !== 'GET' && Object.keys(members(door.requests.body, 'input').properties).length > 0;
  return {
    operationId: sole ? door.name : `${door.name}_by_${method.toLowerCase()}`,
    summary: door.summary,
    description: termsOf(door),
    tags: door.tags,
    security: security(door),
    parameters: [
      ...parameters(door.requests.params, 'path'),
      ...parameters(door.requests.query, 'query'),
      ...parameters(door.requests.headers, 'header'),
      ...(door.errors.includes('hub_failed') ? [routerKey] : []),
      ...(door.price ? [bookSession, namedBook, redelivery, idempotencyKey] : []),
      ...possession[door.possession],
      ...(isKept(door) ? [ifNoneMatch] : []),
    ],
    ...(takesBody ? { requestBody: requestBody(door, schemas) } : {}),
    responses: responses(door, method, schemas),
  };
}

/** Security says the same to machines; whoever writes a client by its types sends them as parameters. */
const possession: Readonly<Record<Columns['possession'], readonly JsonObject[]>> = {
  none: [],
  offered: [sessionHeader, shownProof, proofNonce],
  required: [sessionHeader, shownProof, proofNonce],
  session: [sessionHeader],
};

const possessionTerms: Readonly<Record<Columns['possession'], readonly string[]>> = {
  none: [],
  offered: ['Who shows possession of the book may ask for more.'],
  required: ['Opened by possession of the book: its session, or a proof of it.'],
  session: ["Opened by the book's session itself; a proof does not do."],
};

const tokenTerms: Readonly<Record<Columns['slice_token'], readonly string[]>> = {
  none: [],
  whole: ['Opened by the token of an assignment alone: `Authorization: Bearer`, or `token` in the query.'],
  instead: ['Or by the token of an assignment that collects (`Authorization: Bearer`), within its slice.'],
};

/** What a call costs and who may make it, in words. */
function termsOf(door: Columns): string {
  const { price, waived_by, aliases } = door;
  const terms = [
    price
      ? `Costs ${price.amount_atomic} atomic USDC by x402 on ${price.networks.join(' or ')}${byKey(door) ? ', or an API key' : ''}.`
      : 'Free.',
    ...(waived_by ? [`Nothing is owed where the body has \`${waived_by}\`.`] : []),
    ...possessionTerms[door.possession],
    ...tokenTerms[door.slice_token],
    ...(aliases.length > 0 ? [`Also at ${aliases.join(', ')}.`] : []),
  ];
  return terms.join(' ');
}

function requestBody({ name, takes, body_bytes_max, requests }: Columns, schemas: ComponentSchemas): JsonObject {
  const description = `At most ${body_bytes_max} bytes; longer ones are answered 413.`;
  const required = members(requests.body, 'input').required.length > 0;
  return {
    description,
    required,
    content: content(takes, schemas.named(`${pascal(name)}Request`, requests.body, 'input')),
  };
}

function pascal(name: string): string {
  return name.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function parameters(schema: z.ZodType, place: 'path' | 'query' | 'header'): JsonObject[] {
  const { properties } = members(schema, 'output');
  // What has a default need not be sent, though it is always there afterwards.
  const { required } = members(schema, 'input');
  return Object.entries(properties).map(([name, shape]) => ({
    name,
    in: place,
    required: place === 'path' || (place === 'query' && required.includes(name)),
    schema: shape,
  }));
}

function members(schema: z.ZodType, io: 'input' | 'output'): { properties: JsonObject; required: readonly string[] } {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return { properties: properties as JsonObject, required };
}
