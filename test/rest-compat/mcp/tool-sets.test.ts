import { describe, expect, it } from 'vitest';
import { everyDoor } from '../../../rest-compat/every-door.ts';
import { doorTools } from '../../../rest-compat/faces/mcp/tool.ts';
import {
  defaultListing,
  type Listing,
  listingIn,
  selectTools,
  toolSets,
} from '../../../rest-compat/faces/mcp/tool-sets.ts';

const tools = [...doorTools(everyDoor).values()];
const namesOf = (query: string) => selectTools(tools, listingFor(query)).map(({ name }) => name);

function listingFor(query: string): Listing {
  const listing = listingIn(new URLSearchParams(query));
  if (listing.kind === 'unknown') throw new Error(listing.message);
  return listing;
}

/** JSON of the result that `tools/list` brings. */
function bytesOf(query: string): number {
  const listing = listingFor(query);
  return Buffer.byteLength(
    JSON.stringify({ tools: selectTools(tools, listing).map(tool => tool.entry(listing.schemas)) }),
  );
}

describe('the list of tools where no set is asked for', () => {
  it.each([
    'chat_completions',
    'submit_inference',
    'register_agent',
    'get_agent_book',
    'ingest_foreign_x402',
    'create_board_post',
    'list_board_posts',
    'get_board_post',
    'create_board_comment',
    'list_board_comments',
    'like_post',
    'confirm_post',
    'post_job',
    'list_jobs',
    'get_job',
    'bid_on_job',
    'pick_bid',
    'deliver_job',
    'pay_job',
    'reveal_job',
    'challenge_job',
  ])('has %s, which the specification names', name => {
    expect(namesOf('')).toContain(name);
  });

  it('has what an agent needs daily, and no more than 40 tools', () => {
    expect(namesOf('')).toEqual(
      expect.arrayContaining(['list_models', 'quote_task', 'get_receipt', 'set_book_policy']),
    );
    expect(namesOf('').length).toBeLessThan(40);
    expect(namesOf('')).toEqual(namesOf('tools=daily'));
  });

  it('takes at most 54 kB', () => {
    expect(bytesOf('')).toBeLessThanOrEqual(54_000);
  });

  it('has no output schema', () => {
    for (const tool of selectTools(tools, defaultListing))
      expect(tool.entry('short')).not.toHaveProperty('outputSchema');
  });
});

describe('named sets', () => {
  it('are the tags of endpoints, `daily` and `all`', () => {
    expect(toolSets).toEqual([
      'daily',
      'all',
      'inference',
      'tasks',
      'registration',
      'book',
      'sessions',
      'receipts',
      'board',
      'router',
      'log',
      'discovery',
    ]);
  });

  it('each has a tool, and together they have all', () => {
    for (const name of toolSets) expect(namesOf(`tools=${name}`).length, name).toBeGreaterThan(0);
    const others = toolSets.filter(name => name !== 'all' && name !== 'daily');
    expect(namesOf(`tools=${others}`)).toEqual(namesOf('tools=all'));
    expect(namesOf('tools=all')).toEqual(tools.map(({ name }) => name));
  });

  it('several are listed together, each tool once', () => {
    const both = namesOf('tools=board,%20daily');
    expect(both).toHaveLength(new Set([...namesOf('tools=board'), ...namesOf('')]).size);
    expect(namesOf('tools=board&tools=daily')).toEqual(both);
  });

  it('each takes at most 54 kB without output schemas', () => {
    for (const name of toolSets.filter(it => it !== 'all')) expect(bytesOf(`tools=${name}`), name).toBeLessThan(54_000);
    expect(bytesOf('tools=all')).toBeLessThan(155_000);
  });

  it('one that is not known is refused, and the answer names all', () => {
    const refused = listingIn(new URLSearchParams('tools=board,bord'));
    expect(refused).toMatchObject({ kind: 'unknown', message: expect.stringContaining('Unknown tool set: bord.') });
    for (const name of toolSets) expect(refused).toMatchObject({ message: expect.stringContaining(name) });
  });
});

describe('schemas', () => {
  it('`full` brings output schemas and whole input schemas', () => {
    const [tool] = selectTools(tools, listingFor('schemas=full'));
    expect(tool?.entry('full')).toHaveProperty('outputSchema');
    expect(namesOf('schemas=full')).toEqual(namesOf(''));
    expect(bytesOf('schemas=full')).toBeGreaterThan(2 * bytesOf(''));
  });

  it('any other word is refused', () => {
    expect(listingIn(new URLSearchParams('schemas=whole'))).toMatchObject({ kind: 'unknown' });
    expect(listingIn(new URLSearchParams('schemas=full&schemas=short'))).toMatchObject({ kind: 'unknown' });
  });

  it('another parameter is ignored', () => {
    expect(listingIn(new URLSearchParams('utm_source=a&tools='))).toEqual(defaultListing);
  });
});
