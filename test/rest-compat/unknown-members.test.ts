import { describe, expect, it } from 'vitest';
import { jsonSchema } from '../../rest-compat/door-schemas.ts';
import { everyDoor } from '../../rest-compat/every-door.ts';
import { openApi } from '../../rest-compat/faces/openapi.ts';
import { ownHeaders } from '../../rest-compat/request-headers.ts';
import { isJsonObject, type Json } from '../../schema/canonical-json.ts';

/** Their bodies are those of OpenAI's API or Anthropic's, and what of them is not known here goes on to hubs. */
const forwarded: readonly string[] = [
  'chat_completions',
  'a2a_message',
  'create_response',
  'create_message',
  'count_message_tokens',
  'create_embeddings',
  'generate_image',
  'transcribe_audio',
];
/** Documents of others, as they were sent or signed. */
const ofOthers: readonly string[] = ['payment_required', 'payment_response', 'offer_receipt'];

/** Where an object of this shape takes members that it does not name. */
function looseIn(shape: Json | undefined, path: string): string[] {
  if (Array.isArray(shape)) return shape.flatMap(one => looseIn(one, path));
  if (!isJsonObject(shape)) return [];
  const { properties, additionalProperties, ...others } = shape;
  const here = properties !== undefined && additionalProperties !== false ? [path] : [];
  const members = Object.entries(isJsonObject(properties) ? properties : {}).filter(
    ([name]) => !ofOthers.includes(name),
  );
  return [
    ...here,
    ...members.flatMap(([name, member]) => looseIn(member, `${path}.${name}`)),
    ...Object.values(others).flatMap(other => looseIn(other, path)),
  ];
}

/** Their addresses are passed on between people, by programs that append what they follow people with. */
const forPeople: readonly string[] = ['get_receipt', 'get_refusal'];
/** The same for everybody: programs append a parameter so that no cache between answers them. */
const unfiltered: readonly string[] = ['get_jwks'];

describe('a query', () => {
  const open = [...forPeople, ...unfiltered];
  const asked = everyDoor.filter(({ kind, name }) => kind === 'document' && !open.includes(name));

  it.each(open)('of %s: a parameter that it does not know is ignored', name => {
    const door = everyDoor.find(each => each.name === name);
    expect(door?.requests.query.safeParse({ 'no-such-parameter': '1' }).success).toBe(true);
  });

  it.each(asked.map(door => [door.name, door] as const))(
    'of %s: each parameter that it does not know is refused',
    (name, { requests }) => {
      expect(looseIn(jsonSchema(requests.query, 'input'), name)).toEqual([]);
      expect(requests.query.safeParse({ 'no-such-parameter': '1' }).success).toBe(false);
    },
  );
});

describe('a header of the service', () => {
  it('is described in OpenAPI, and each that is described there is read', () => {
    // Those that the service itself sends to a webhook are none of them.
    const { webhooks: _, ...told_of } = openApi(everyDoor, 'https://svc.example');
    const told = JSON.stringify(told_of);
    const described = told.matchAll(/"name":"(x-svc-[\w-]+)","in":"header"|"in":"header","name":"(x-svc-[\w-]+)"/gi);
    const names = new Set([...described].map(([, one, other]) => (one ?? other ?? '').toLowerCase()));
    // Shown beside a message of A2A, which has a description of its own.
    expect([...names, 'x-svc-payer'].sort()).toEqual(ownHeaders.filter(name => name.startsWith('x-svc-')).sort());
  });
});

describe('a body of an endpoint that writes', () => {
  const writing = everyDoor.filter(({ effect, methods }) => effect !== 'reads' || methods.some(it => it !== 'GET'));

  it.each(writing.filter(({ name }) => !forwarded.includes(name)).map(door => [door.name, door] as const))(
    '%s: each member that it does not know is refused',
    (name, { requests }) => {
      expect(looseIn(jsonSchema(requests.body, 'input'), name)).toEqual([]);
    },
  );

  it.each(writing.filter(({ name }) => forwarded.includes(name)).map(door => [door.name, door] as const))(
    '%s: what is for this service, and no hub, is refused as well',
    (name, { requests }) => {
      const { properties } = jsonSchema(requests.body, 'input');
      expect(looseIn(isJsonObject(properties) ? properties.svc : undefined, `${name}.svc`)).toEqual([]);
    },
  );
});
