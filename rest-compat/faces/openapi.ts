import type { z } from 'zod';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { acceptsIdempotencyKey, type Columns, type Door, type DoorMethod } from '../door.ts';
import { jsonSchema } from '../door-schemas.ts';
import { credentialTerms } from './credential-terms.ts';
import {
  agentHeader,
  bookSession,
  delegation,
  idempotencyKey,
  idempotencyKeyOfStamp,
  idempotencyKeyOfWrite,
  ifNoneMatch,
  note,
  proofHeader,
  proofNonce,
  redelivery,
  routerKey,
  sessionHeader,
  sessionOrProof,
} from './openapi-parameters.ts';
import { ComponentParts, type Components, pascal } from './openapi-parts.ts';
import { content, isKept, responses } from './openapi-responses.ts';
import { ComponentSchemas } from './openapi-schemas.ts';
import { acceptsApiKey, security, securitySchemes } from './openapi-security.ts';
import { webhooks } from './openapi-webhooks.ts';
import { priceTerms } from './price-terms.ts';
import { tags } from './tags.ts';

/** The OpenAPI 3.1 document of the door table. It is made of the columns alone. */
export function openApi(doors: readonly Door[], base_url: string): JsonObject {
  const components: Components = { schemas: new ComponentSchemas(), parts: new ComponentParts() };
  const paths = Object.fromEntries([
    ...[...Map.groupBy(doors, door => door.path)].map(([path, here]) => [path, pathItem(here, components)] as const),
    ...doors.flatMap(door => aliasesOf(door).map(path => [path, pathItem([aliasAt(door, path)], components)] as const)),
  ]);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Spend receipt gateway',
      version: '1.0.0',
      license: { name: 'MIT', identifier: 'MIT' },
      description:
        'A paid endpoint answers a request without payment with 402 and the price, most of them before they read the body: pay by ' +
        'x402 and send the request again. OPTIONS at any path returns 204 with the allowed methods and, for another origin, the ' +
        'CORS headers. Each response has an x-request-id. An unknown query parameter or an unknown header that begins with X-SVC- is ' +
        'refused with 400 and its name; some public documents, such as this one, ignore it.',
    },
    servers: [{ url: base_url }],
    tags,
    paths,
    webhooks: webhooks(components.schemas),
    components: { securitySchemes, schemas: components.schemas.all(), ...components.parts.components() },
  };
}

/** Other paths of a door. A path that chooses a form (`.json`) or has a wildcard is only named in the description. */
export function aliasesOf({ aliases }: Columns): Columns['aliases'] {
  return aliases.filter(path => !/\*|\.json$/.test(path));
}

/** The same door at that path, with an operation id of its own: its name and the last word of the path. */
function aliasAt(door: Door, path: Columns['path']): Door {
  return { ...door, path, aliases: [], name: `${door.name}_at_${path.split('/').at(-1)}` };
}

function pathItem(here: readonly Door[], components: Components): JsonObject {
  return Object.fromEntries(
    here.flatMap(door => door.methods.map(method => [method.toLowerCase(), operation(door, method, components)])),
  );
}

function operation(door: Door, method: DoorMethod, { schemas, parts }: Components): JsonObject {
  const sole = door.methods[0] === method;
  const takesBody = method !== 'GET' && bodyOf(door).taken;
  const operationId = sole ? door.name : `${door.name}_by_${method.toLowerCase()}`;
  return {
    operationId,
    summary: door.summary,
    description: termsOf(door),
    tags: door.tags,
    security: security(door),
    parameters: [
      ...parameters(door.requests.params, 'path'),
      ...parameters(door.requests.query, 'query'),
      ...parameters(door.requests.headers, 'header'),
      ...(door.errors.includes('hub_failed') ? [routerKey] : []),
      ...(door.price ? paymentParameters(door) : []),
      ...(method !== 'GET' && acceptsIdempotencyKey(door) ? [idempotencyKeyOfWrite] : []),
      ...possession[door.possession],
      ...(isKept(door) ? [ifNoneMatch] : []),
    ].map(parameter => parts.parameter(parameter, operationId)),
    ...(takesBody ? { requestBody: requestBody(door, schemas) } : {}),
    responses: responses({ door, method, operationId }, { schemas, parts }),
  };
}

/** A door that requires possession already describes the session header. */
function paymentParameters(door: Door): readonly JsonObject[] {
  const session = door.possession === 'none' ? [bookSession] : [];
  const key = door.price?.stamp ? idempotencyKeyOfStamp : idempotencyKey;
  return [...session, agentHeader, delegation, note, redelivery, key];
}

/** `security` says the same, but a client that is generated from types sends them as parameters. */
const possession: Readonly<Record<Columns['possession'], readonly JsonObject[]>> = {
  none: [],
  offered: [sessionOrProof, proofHeader, proofNonce],
  required: [sessionOrProof, proofHeader, proofNonce],
  session: [sessionHeader],
  bound: [sessionOrProof, proofHeader, proofNonce],
};

const possessionTerms: Readonly<Record<Columns['possession'], readonly string[]>> = {
  none: [],
  offered: ['Possession of the book gives access to more.'],
  required: ['Requires possession of the book: its session, or a proof of it.'],
  session: ["Requires the book's session itself; a proof is not enough."],
  bound: ["Requires the book's session itself, or a proof that is bound to this request; a plain proof is not enough."],
};

/** The price of a call and who may make it, as text. */
function termsOf(door: Columns): string {
  const { price, waived_by, aliases, limits } = door;
  const terms = [
    price ? `${priceTerms(price).sentence}${acceptsApiKey(door) ? '; an API key is accepted instead' : ''}.` : 'Free.',
    ...(waived_by ? [`Free if the body has \`${waived_by}\`.`] : []),
    // `or_session` is left out: a caller without key and session may not use the endpoint.
    ...(door.ingest_key === 'or_session' ? [] : possessionTerms[door.possession]),
    ...credentialTerms(door),
    ...(aliases.length > 0
      ? [
          `Also at ${aliases.join(', ')}${aliases.some(alias => alias.includes('*')) ? ', where `*` may contain slashes' : ''}.`,
        ]
      : []),
    ...limits,
  ];
  return terms.join(' ');
}

function requestBody(door: Columns, schemas: ComponentSchemas): JsonObject {
  const { name, takes, body_bytes_max, requests, face } = door;
  const description = `At most ${body_bytes_max} bytes. A longer body is refused with 413.`;
  const { required } = bodyOf(door);
  const own = schemas.named(`${pascal(name)}Request`, requests.body, 'input');
  return {
    description,
    required,
    content: content(takes, face ? { anyOf: [own, schemas.of(face.call, 'input')] } : own),
  };
}

/** Whether a body is read, and whether it is required. */
function bodyOf({ requests: { body } }: Columns): { readonly taken: boolean; readonly required: boolean } {
  const { properties, required, alternatives } = members(body, 'input');
  if (alternatives > 0) return { taken: true, required: true };
  return { taken: Object.keys(properties).length > 0, required: required.length > 0 };
}

function parameters(schema: z.ZodType, place: 'path' | 'query' | 'header'): JsonObject[] {
  const { properties } = members(schema, 'output');
  // A member with a default is present in the output, but not required in the input.
  const { required } = members(schema, 'input');
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: place,
    description,
    required: place === 'path' || (place === 'query' && required.includes(name)),
    schema,
  }));
}

type Description = { readonly description: string };

/** Members of an object. For a union only the number of its alternatives is known. */
function members(schema: z.ZodType, io: 'input' | 'output') {
  const { properties = {}, required = [], oneOf, anyOf } = jsonSchema(schema, io) as z.core.JSONSchema.BaseSchema;
  const alternatives = (oneOf ?? anyOf ?? []).length;
  return { properties: properties as Readonly<Record<string, JsonObject & Description>>, required, alternatives };
}
