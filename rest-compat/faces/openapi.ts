import type { z } from 'zod';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { type Columns, type Door, type DoorMethod, isDoneOnce } from '../door.ts';
import { jsonSchema } from '../door-schemas.ts';
import {
  bookSession,
  delegation,
  idempotencyKey,
  idempotencyKeyOfWrite,
  ifNoneMatch,
  namedBook,
  note,
  proofNonce,
  redelivery,
  routerKey,
  sessionHeader,
  shownProof,
} from './openapi-parameters.ts';
import { content, isKept, responses } from './openapi-responses.ts';
import { ComponentSchemas } from './openapi-schemas.ts';
import { byKey, security, securitySchemes } from './openapi-security.ts';
import { webhooks } from './openapi-webhooks.ts';
import { tags } from './tags.ts';

/** OpenAPI 3.1 of the door table: a door's columns are all that is known of it. */
export function openApi(doors: readonly Door[], base_url: string): JsonObject {
  const schemas = new ComponentSchemas();
  const paths = Object.fromEntries([
    ...[...Map.groupBy(doors, door => door.path)].map(([path, here]) => [path, pathItem(here, schemas)] as const),
    ...doors.flatMap(door => aliasesOf(door).map(path => [path, pathItem([aliasAt(door, path)], schemas)] as const)),
  ]);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Spend receipt gateway',
      version: '1.0.0',
      license: { name: 'MIT', identifier: 'MIT' },
      description:
        'Paid endpoints answer 402 with their price before they look at a body; pay by x402 and send it again. OPTIONS at any ' +
        'path: 204, with its methods in Allow and, to a page of another origin, with what it may send. Each answer has an ' +
        'x-request-id. An unknown query parameter or an unknown header that begins with X-SVC- is answered 400 with its name.',
    },
    servers: [{ url: base_url }],
    tags,
    paths,
    webhooks: webhooks(schemas),
    components: { securitySchemes, schemas: schemas.all() },
  };
}

/** Other paths of a door. One that chooses the form of an answer, or stands for many, is said in words alone. */
export function aliasesOf({ aliases }: Columns): Columns['aliases'] {
  return aliases.filter(path => !/\*|\.json$/.test(path));
}

/** The same door at that path, with an id of its own: its name and the last word of the path. */
function aliasAt(door: Door, path: Columns['path']): Door {
  return { ...door, path, aliases: [], name: `${door.name}_at_${path.split('/').at(-1)}` };
}

function pathItem(here: readonly Door[], schemas: ComponentSchemas): JsonObject {
  return Object.fromEntries(
    here.flatMap(door => door.methods.map(method => [method.toLowerCase(), operation(door, method, schemas)])),
  );
}

function operation(door: Door, method: DoorMethod, schemas: ComponentSchemas): JsonObject {
  const sole = door.methods[0] === method;
  const takesBody = method !== 'GET' && bodyOf(door).taken;
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
      ...(door.price ? soldOf(door) : []),
      ...(method !== 'GET' && isDoneOnce(door) ? [idempotencyKeyOfWrite] : []),
      ...possession[door.possession],
      ...(isKept(door) ? [ifNoneMatch] : []),
    ],
    ...(takesBody ? { requestBody: requestBody(door, schemas) } : {}),
    responses: responses(door, method, schemas),
  };
}

/** Where possession is asked for, the session is said as that, once. */
function soldOf(door: Door): readonly JsonObject[] {
  const session = door.possession === 'none' ? [bookSession] : [];
  return [...session, namedBook, delegation, note, redelivery, idempotencyKey];
}

/** Security says the same to machines; whoever writes a client by its types sends them as parameters. */
const possession: Readonly<Record<Columns['possession'], readonly JsonObject[]>> = {
  none: [],
  offered: [sessionHeader, shownProof, proofNonce],
  required: [sessionHeader, shownProof, proofNonce],
  session: [sessionHeader],
  bound: [sessionHeader, shownProof, proofNonce],
};

const possessionTerms: Readonly<Record<Columns['possession'], readonly string[]>> = {
  none: [],
  offered: ['Who shows possession of the book may ask for more.'],
  required: ['Opened by possession of the book: its session, or a proof of it.'],
  session: ["Opened by the book's session itself; a proof does not do."],
  bound: ["Opened by the book's session itself, or by a proof that is bound to this request; a plain one does not do."],
};

const tokenTerms: Readonly<Record<Columns['slice_token'], readonly string[]>> = {
  none: [],
  whole: ['Opened by the token of an assignment alone: `Authorization: Bearer`, or `token` in the query.'],
  instead: ['Or by the token of an assignment that collects (`Authorization: Bearer`), within its slice.'],
};

const keyTerms: Readonly<Record<Columns['ingest_key'], readonly string[]>> = {
  none: [],
  required: ['Opened by the ingest key of the router book (`Authorization: Bearer`).'],
  or_session: [
    "Opened by the ingest key of the router book (`Authorization: Bearer`), or by possession of its agent's book.",
  ],
};

const secretTerms: Readonly<Record<Columns['board_secret'], readonly string[]>> = {
  none: [],
  ops: ["Opened by the secret of the board's operators alone (`X-SVC-Board-Ops`)."],
  inbound: ["Opened by the board's inbound secret alone (`X-SVC-Board-Inbound`, or `Authorization: Bearer`)."],
};

/** What a call costs and who may make it, in words. */
function termsOf(door: Columns): string {
  const { price, waived_by, aliases, limits } = door;
  const terms = [
    price
      ? `Costs ${price.amount_atomic === null ? 'what its 402 says, in' : `${price.amount_atomic}`} atomic USDC by x402 on ${price.networks.join(' or ')}${byKey(door) ? ', or an API key' : ''}.`
      : 'Free.',
    ...(waived_by ? [`Nothing is owed where the body has \`${waived_by}\`.`] : []),
    ...possessionTerms[door.possession],
    ...tokenTerms[door.slice_token],
    ...keyTerms[door.ingest_key],
    ...secretTerms[door.board_secret],
    ...(aliases.length > 0 ? [`Also at ${aliases.join(', ')}.`] : []),
    ...limits,
  ];
  return terms.join(' ');
}

function requestBody(door: Columns, schemas: ComponentSchemas): JsonObject {
  const { name, takes, body_bytes_max, requests, face } = door;
  const description = `At most ${body_bytes_max} bytes; longer ones are answered 413.`;
  const { required } = bodyOf(door);
  const own = schemas.named(`${pascal(name)}Request`, requests.body, 'input');
  return {
    description,
    required,
    content: content(takes, face ? { anyOf: [own, schemas.of(face.call, 'input')] } : own),
  };
}

/** Whether a body is read at all, and has to be sent. One of several requests may say nothing of what they share. */
function bodyOf({ requests: { body } }: Columns): { readonly taken: boolean; readonly required: boolean } {
  const { properties, required, alternatives } = members(body, 'input');
  if (alternatives > 0) return { taken: true, required: true };
  return { taken: Object.keys(properties).length > 0, required: required.length > 0 };
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

/** Of an object; a union has none in common that it says, and counts its alternatives. */
function members(schema: z.ZodType, io: 'input' | 'output') {
  const { properties = {}, required = [], oneOf, anyOf } = jsonSchema(schema, io) as z.core.JSONSchema.BaseSchema;
  return { properties: properties as JsonObject, required, alternatives: (oneOf ?? anyOf ?? []).length };
}
