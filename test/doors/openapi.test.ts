import { beforeAll, describe, expect, it } from 'vitest';
import { everyDoor } from '../../rest-compat/every-door.ts';
import { aliasesOf, openApi } from '../../rest-compat/faces/openapi.ts';
import { isJsonObject, type JsonObject } from '../../schema/canonical-json.ts';
import { boardLimits, boardReadLimits, jobLimits, reactionLimits, scoreLimits } from '../../schema/limits.ts';
import { type Service, sharedService } from '../harness/doors/open-service.ts';
import { withoutReferences } from '../harness/openapi.ts';

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});

describe('GET /openapi.json', () => {
  /** All objects at any depth of a document. */
  function* objectsIn(value: unknown): Generator<JsonObject> {
    if (Array.isArray(value)) for (const item of value) yield* objectsIn(item);
    if (!isJsonObject(value)) return;
    yield value;
    for (const member of Object.values(value)) yield* objectsIn(member);
  }

  interface Operation {
    readonly operationId: string;
    readonly security: readonly Readonly<Record<string, unknown>>[];
    readonly parameters: readonly { readonly in: string; readonly name: string; readonly required: boolean }[];
    readonly responses: Readonly<Record<string, { readonly description: string }>>;
  }
  interface Description {
    readonly openapi: string;
    readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
    readonly components: { readonly schemas: JsonObject; readonly securitySchemes: JsonObject };
  }
  const described = async () => (await service.get<Description>('/openapi.json')).body;
  const operationsOf = ({ paths }: Description) =>
    Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => ({ path, method, ...operation })),
    );

  it('200: the door table as OpenAPI 3.1, version 1.0.0', async () => {
    const body = await described();
    expect(body).toEqual(JSON.parse(JSON.stringify(openApi(everyDoor, service.url))));
    expect(body).toMatchObject({ openapi: '3.1.0', info: { version: '1.0.0' }, servers: [{ url: service.url }] });
    const doors = everyDoor.flatMap(door =>
      [door.path, ...aliasesOf(door)].flatMap(path => door.methods.map(method => `${method} ${path}`)),
    );
    const operations = operationsOf(body);
    expect(operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`).sort()).toEqual(doors.sort());
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(doors.length);
  });

  it('200: the reply to a post is a path of its own, and every limit of the board is said where it applies', async () => {
    const { paths, components } = await described();
    const [reply, comments] = ['reply', 'comments'].map(
      at => paths[`/v1/board/posts/{id}/${at}`]?.post as JsonObject | undefined,
    );
    const { operationId: _own, description: _terms, requestBody: _named, ...alike } = reply ?? {};
    expect(comments).toMatchObject(alike);
    const bodyOf = (name: string, member: string) =>
      JSON.stringify(((components.schemas[name] as JsonObject)?.properties as JsonObject)?.[member] ?? null);
    for (const [name, member, limit] of [
      ['CreateBoardPost', 'text', boardLimits.post_text_chars_max],
      ['CreateBoardPost', 'endpoint', boardLimits.endpoint_chars_max],
      ['CreateBoardPost', 'latency_ms', boardLimits.latency_ms_max],
      ['CreateBoardComment', 'text', boardLimits.comment_chars_max],
      ['CreateBoardCommentAtReply', 'text', boardLimits.comment_chars_max],
      ['FlagBoardPost', 'reason', boardLimits.flag_reason_chars_max],
      ['FlagJob', 'reason', boardLimits.flag_reason_chars_max],
      ['PostJob', 'text', jobLimits.text_chars_max],
      ['PostJob', 'acceptance_test', jobLimits.acceptance_test_chars_max],
      ['PostJob', 'budget', jobLimits.budget_atomic_max],
      ['PostJob', 'deadline', jobLimits.deadline_seconds_max / 86_400],
      ['BidOnJob', 'pitch', jobLimits.pitch_chars_max],
      ['BidOnJob', 'eta', jobLimits.eta_chars_max],
      ['BidOnJob', 'price', jobLimits.budget_atomic_max],
      ['DeliverJob', 'preview', jobLimits.preview_chars_max],
      ['RefuseDelivery', 'reason', jobLimits.reason_chars_max],
      ['ChallengeJob', 'reason', jobLimits.reason_chars_max],
      ['RevealJob', 'output', jobLimits.output_bytes_max],
      ['RecordCompletion', 'source', reactionLimits.source_chars_max],
      ['RecordCompletion', 'external_id', reactionLimits.external_id_chars_max],
    ] as const)
      expect(bodyOf(`${name}Request`, member), `${name}.${member}`).toMatch(new RegExp(`\\b${limit}\\b`));
    const terms = Object.fromEntries(
      operationsOf(withoutReferences(await described())).map(it => [it.operationId, JSON.stringify(it)]),
    );
    for (const [name, limit] of [
      ['like_post', reactionLimits.likes_per_agent_hour_max],
      ['confirm_post', reactionLimits.confirms_per_agent_hour_max],
      ['record_completion', reactionLimits.completions_per_hour_max],
      ['bid_on_job', jobLimits.bidders_max],
      ['deliver_job', jobLimits.deliveries_replaced_max],
      ['refuse_delivery', jobLimits.deliveries_refused_max],
      ['pay_job', jobLimits.pay_within_seconds / 86_400],
      ['reveal_job', jobLimits.output_kept_seconds / 86_400],
      ['get_job', jobLimits.bids_shown_max],
      ['list_jobs', jobLimits.page_max],
      ['list_board_posts', boardLimits.page_posts_max],
      ['list_board_comments', boardLimits.page_comments_max],
      ['list_board_flags', boardLimits.page_flags_max],
      ['search_board', boardReadLimits.search_hits_max],
      ['get_board_feed_json', boardReadLimits.feed_entries],
      ['get_endpoint_score', scoreLimits.rows_per_payer_max],
    ] as const)
      expect(terms[name], name).toMatch(new RegExp(`\\b${limit}\\b`));
  });

  it('200: references resolve, path parameters are declared, every answer has a description', async () => {
    const body = await described();
    for (const { $ref } of objectsIn(body)) {
      if (typeof $ref !== 'string') continue;
      const [, , kind = '', name = ''] = $ref.split('/');
      expect(body.components).toHaveProperty([kind, name]);
    }
    for (const { path, security, parameters, responses } of operationsOf(withoutReferences(body))) {
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(match => match[1]);
      expect(parameters.filter(each => each.in === 'path' && each.required).map(({ name }) => name)).toEqual(named);
      for (const status of Object.keys(responses)) expect(status).toMatch(/^[2-5]\d\d$/);
      for (const { description } of Object.values(responses)) expect(description).not.toBe('');
      for (const name of security.flatMap(Object.keys)) expect(body.components.securitySchemes).toHaveProperty(name);
    }
  });

  it('200: lists are spelt as linters, validators and generators read them', async () => {
    const schemas = [...objectsIn(await described())];
    const lists = schemas.filter(({ type }) => type === 'array');
    expect(lists.filter(({ items }) => !isJsonObject(items))).toEqual([]);
    // `prefixItems` must be a non-empty array (JSON Schema 2020-12, section 10.3.1.1).
    expect(schemas.filter(({ prefixItems }) => Array.isArray(prefixItems) && prefixItems.length === 0)).toEqual([]);
  });
});
