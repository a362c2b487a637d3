import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import type { Door } from '../../../rest-compat/door.ts';
import { everyDoor } from '../../../rest-compat/every-door.ts';
import { doorTools } from '../../../rest-compat/faces/mcp/tool.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';

const tools = doorTools(everyDoor);
const shown = [...tools.values()].map(tool => tool.entry('full'));
const named = (name: string) => tools.get(name)?.entry('full') as Readonly<Record<string, JsonObject>> | undefined;
const none = everyDoor.flatMap(door => ('none' in door.tool ? [{ name: door.name, why: door.tool.none }] : []));

const wantsSecret = ({ board_secret, slice_token, ingest_key }: Door) =>
  board_secret !== 'none' || slice_token === 'whole' || ingest_key === 'required';

describe('the tools of the door table', () => {
  it('each door is one tool, or is said to be none and why', () => {
    expect(tools.size + none.length).toBe(everyDoor.length);
    expect(none.map(({ name }) => name).sort()).toEqual([
      'answer_linked_approval',
      'broadcast_generation',
      'create_assignment',
      'follow_board_events',
      'get_approvals_page',
      'get_approve_page',
      'get_book_slice',
      'get_linked_approval',
      'hide_comment',
      'hide_job',
      'hide_post',
      'list_board_flags',
      'open_router_book',
      'record_completion',
      'rotate_session',
      'rotate_webhook_secret',
      'set_router_key',
      'set_webhook',
      'stream_book_export',
      'stream_book_journal',
      'unhide_comment',
      'unhide_job',
      'unhide_post',
    ]);
  });

  it('no door that is opened by a shared secret alone is a tool', () => {
    // These two endpoints are added by name: the token of a link belongs to one request, so no column of the endpoint states it.
    const linked = ['answer_linked_approval', 'get_linked_approval'];
    const needing = [...linked, ...everyDoor.filter(wantsSecret).map(({ name }) => name)];
    expect(needing.length).toBeGreaterThan(4);
    expect(
      none
        .filter(({ why }) => why === 'needs_secret')
        .map(({ name }) => name)
        .sort(),
    ).toEqual(needing.sort());
  });

  it('none lists `stream`, which asks for an answer in pieces', () => {
    for (const { inputSchema, name } of shown)
      for (const member of ['stream', 'stream_options'])
        expect((inputSchema as JsonObject).properties, name).not.toHaveProperty(member);
  });

  it('each argument by which a message is asked for is described', () => {
    expect(named('create_message')?.inputSchema?.properties).toMatchObject({
      beta: { description: expect.stringContaining('has no effect') },
    });
  });

  it('no door whose answer comes in pieces, or has no end, is a tool', () => {
    const endless = everyDoor.filter(door => door.in_pieces || door.media.startsWith('text/event-stream'));
    expect(
      none
        .filter(({ why }) => why === 'comes_in_pieces')
        .map(({ name }) => name)
        .sort(),
    ).toEqual(endless.map(({ name }) => name).sort());
  });

  it('no page at which a person acts is a tool', () => {
    const pages = everyDoor.filter(({ kind, media }) => kind === 'page' && media.startsWith('text/html'));
    expect(pages.length).toBeGreaterThan(1);
    expect(none.flatMap(({ name, why }) => (why === 'for_people' ? [name] : []))).toEqual(
      pages.map(({ name }) => name),
    );
  });

  it.each([
    'chat_completions',
    'submit_inference',
    'register_agent',
    'get_agent_book',
    'ingest_foreign_x402',
    'create_board_post',
    'create_board_comment',
    'like_post',
    'confirm_post',
    'post_job',
    'bid_on_job',
    'pick_bid',
    'deliver_job',
    'pay_job',
    'reveal_job',
    'challenge_job',
  ])('%s has the name that is specified', name => {
    expect(named(name)).toBeDefined();
  });

  it('names are what clients take: letters, digits and underscores, 64 at most', () => {
    for (const { name } of shown) expect(name).toMatch(/^[a-z0-9_]{1,64}$/);
  });

  it('schemas are JSON Schema 2020-12, objects at their top, and arguments without alternatives there', () => {
    const ajv = formats.default(new Ajv2020({ strict: false }));
    for (const { name, inputSchema, outputSchema } of shown as (JsonObject & Record<string, JsonObject>)[]) {
      expect(() => ajv.compile(inputSchema as object), String(name)).not.toThrow();
      expect(() => ajv.compile(outputSchema as object), String(name)).not.toThrow();
      expect(outputSchema).toMatchObject({ type: 'object' });
      expect(Object.keys(inputSchema as object).sort()).toEqual(['properties', 'required', 'type']);
    }
  });

  it('arguments are those of path, query and body together, and a session where only a header could bring it', () => {
    expect(named('get_book_lineage')?.inputSchema).toMatchObject({
      properties: { agent_id: { type: 'integer' }, task_id: {}, limit: {}, session: { type: 'string' } },
      required: ['agent_id', 'task_id'],
    });
    expect(named('a2a_escrow')?.inputSchema?.properties).toMatchObject({ action: {}, job_id: {}, agent_id: {} });
    expect(named('get_jwks')?.inputSchema).toEqual({ type: 'object', properties: {}, required: [] });
  });

  it('nothing is streamed: a tool answers in one piece', () => {
    for (const name of ['chat_completions', 'a2a_message', 'create_response']) {
      expect(named(name)?.inputSchema?.properties).not.toHaveProperty('stream');
    }
  });

  it('a file comes as base64', () => {
    expect(named('transcribe_audio')?.inputSchema?.properties).toMatchObject({
      file: { required: ['name', 'base64'] },
    });
  });

  it('says what it costs, and that texts of the board are not to be trusted', () => {
    expect(named('chat_completions')?.description).toContain('2000 atomic USDC');
    expect(named('get_health')?.description).toContain('(free).');
    for (const { tags, name } of everyDoor.filter(door => !('none' in door.tool))) {
      const tool = named(name === 'request_task' ? 'submit_inference' : name);
      const board = tags.includes('board');
      expect(String(tool?.description).includes('UNTRUSTED'), name).toBe(board);
      expect(tool?._meta?.['svc402/untrusted_text'] === true, name).toBe(board);
    }
  });

  it('hints at what a call changes', () => {
    expect(named('get_book_gaps')?.annotations).toMatchObject({ readOnlyHint: true, destructiveHint: false });
    expect(named('export_book')?.annotations).toMatchObject({ readOnlyHint: true });
    // With a budget it sets one, and its description says so.
    expect(named('get_agent_book')?.description).toContain('Only reads unless `budget` is given.');
    expect(named('get_agent_book')?.annotations).toMatchObject({ readOnlyHint: false, destructiveHint: true });
    expect(named('revoke_assignment')?.annotations).toMatchObject({ destructiveHint: true, idempotentHint: true });
    expect(named('chat_completions')?.annotations).toMatchObject({ readOnlyHint: false, openWorldHint: true });
  });

  it('whatever takes away, sets, decides or moves on is destructive, and nothing else is', () => {
    const destructive = shown.filter(({ annotations }) => (annotations as JsonObject).destructiveHint === true);
    expect(destructive.map(({ name }) => name).sort()).toEqual([
      'a2a_escrow',
      'act_in_session',
      'answer_approval',
      'bid_on_job',
      'cancel_job',
      'challenge_job',
      'deliver_job',
      'get_agent_book',
      'ledger_escrow',
      'like_post',
      'pay_job',
      'pick_bid',
      'publish_book_export',
      'refuse_delivery',
      'remove_webhook',
      'reveal_job',
      'revoke_assignment',
      'revoke_session',
      'set_book_alerts',
      'set_book_policy',
      'take_down_board_comment',
      'take_down_board_post',
      'withdraw_book_export',
    ]);
  });

  it.each(everyDoor.map(door => [door.name, door] as const))(
    '%s: what its row says is what its methods allow',
    (_, door) => {
      const { effect, methods, price } = door;
      if (methods.every(method => method === 'GET')) expect(effect).toBe('reads');
      if (methods.some(method => method === 'DELETE' || method === 'PUT')) expect(effect).toBe('changes');
      if (price !== null) expect(effect).not.toBe('reads');
    },
  );

  it('a paid tool is not read-only, and says so', () => {
    const paid = [...tools.values()].filter(({ door }) => door.price !== null);
    expect(paid.length).toBeGreaterThan(10);
    for (const tool of paid) {
      const { annotations, description } = tool.entry('short');
      expect(annotations, tool.name).toMatchObject({ readOnlyHint: false, idempotentHint: false, openWorldHint: true });
      expect(description, tool.name).toContain('Not read-only');
    }
  });

  it('the first sentence of each says what it does and what it costs', () => {
    for (const { name, door, entry: shown } of tools.values()) {
      const { description } = shown('short');
      expect(description.startsWith(`${door.summary} (`), name).toBe(true);
      expect(description.slice(door.summary.length), name).toMatch(
        /^ \((free|\d+ atomic USDC, by x402 on .+|price in .+)\)\./,
      );
    }
  });

  it('what is a query on the graph or a page is read-only, and nothing else that is free', () => {
    const writes = [...tools.values()].filter(
      ({ door, entry: shown }) => !door.price && !shown('short').annotations.readOnlyHint,
    );
    expect(writes.map(({ door }) => door.effect)).not.toContain('reads');
    const { annotations } = named('challenge_session') ?? {};
    expect(annotations).toMatchObject({ readOnlyHint: true, destructiveHint: false });
  });

  it('a write whose repetition leaves nothing more is idempotent, and no other is', () => {
    const repeatable = shown.filter(
      ({ annotations: { idempotentHint, readOnlyHint } }) => idempotentHint && !readOnlyHint,
    );
    expect(repeatable.map(({ name }) => name).sort()).toEqual([
      'act_in_session',
      'answer_approval',
      'cancel_job',
      'challenge_job',
      'confirm_post',
      'correct_inflow',
      'deliver_job',
      'file_dispute',
      'get_agent_book',
      'ledger_escrow',
      'pick_bid',
      'refuse_delivery',
      'remove_webhook',
      'reveal_job',
      'revoke_assignment',
      'revoke_session',
      'set_book_alerts',
      'set_book_policy',
      'take_down_board_comment',
      'take_down_board_post',
      'withdraw_book_export',
    ]);
  });

  it('what is free and not of the board reaches out to a chain or to a webhook, or not at all', () => {
    const free = [...tools.values()].filter(({ door }) => door.price === null && !door.tags.includes('board'));
    const reaching = free.filter(({ entry: shown }) => shown('short').annotations.openWorldHint);
    expect(reaching.map(({ name }) => name).sort()).toEqual([
      'answer_approval',
      'correct_inflow',
      'list_wallet_receipts',
      'ping_webhook',
      'record_inflow',
      'redeliver_webhook',
      'revoke_session',
      'start_reconciliation',
    ]);
  });
});
