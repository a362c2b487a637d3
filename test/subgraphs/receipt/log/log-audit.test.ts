import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { auditLeaves, type Damage, nodesCompleted } from '../../../../subgraphs/receipt/log/audit.ts';
import { appendLeaf, type Frontier, type NodeAddress } from '../../../../subgraphs/receipt/log/merkle-tree.ts';
import { leafHash, rootOf } from '../../../../subgraphs/receipt/verify/merkle-proof.ts';

const nameOf = ({ level, index }: NodeAddress) => `${level}/${index}`;

/** A log in its stored form: every node by its name. */
function storedLog(size: number) {
  const leaves = Array.from({ length: size }, (_, index) => leafHash(`receipt ${index}`));
  const nodes = new Map<string, Buffer>();
  let frontier: Frontier = [];
  leaves.forEach((leaf, index) => {
    const appended = appendLeaf(frontier, index, leaf);
    frontier = appended.frontier;
    for (const node of appended.nodes) nodes.set(nameOf(node), node.hash);
  });
  return { leaves, nodes, root: rootOf(frontier) };
}

type Log = Pick<ReturnType<typeof storedLog>, 'nodes'> & { readonly leaves: readonly (Buffer | null)[] };

/** Audits in ranges that end at `ends`, as the pages of an audit do. */
function audit({ leaves, nodes }: Log, ends: readonly number[]) {
  const damage: Damage[] = [];
  let frontier: Frontier = [];
  let from = 0;
  for (const end of [...new Set([...ends, leaves.length])].sort((a, b) => a - b)) {
    const page = auditLeaves(frontier, from, leaves.slice(from, end), node => nodes.get(nameOf(node)) ?? null);
    damage.push(...page.damage);
    [frontier, from] = [page.frontier, end];
  }
  return { damage, root: rootOf(frontier) };
}

const size = fc.integer({ min: 1, max: 200 });
const ends = (size: number) => fc.array(fc.integer({ min: 0, max: size }), { maxLength: 8 });
const sizeAndEnds = size.chain(size => fc.tuple(fc.constant(size), ends(size)));
const place = sizeAndEnds.chain(([size, ends]) =>
  fc.tuple(fc.constant(size), fc.constant(ends), fc.integer({ min: 0, max: size - 1 })),
);

describe('the audit of the log', () => {
  it('comes to the root of a full computation, in pages of any length, and finds a sound log sound', () => {
    fc.assert(
      fc.property(sizeAndEnds, ([size, ends]) => {
        const log = storedLog(size);
        expect(audit(log, ends)).toEqual({ damage: [], root: log.root });
      }),
    );
  });

  it('may begin anywhere with the stored peaks, and finds there what it finds from the beginning', () => {
    fc.assert(
      fc.property(place, ([size, , from]) => {
        const { leaves, nodes, root } = storedLog(size);
        const before = leaves.slice(0, from).reduce<Frontier>((f, leaf, at) => appendLeaf(f, at, leaf).frontier, []);
        const audited = auditLeaves(before, from, leaves.slice(from), node => nodes.get(nameOf(node)) ?? null);
        expect(audited.damage).toEqual([]);
        expect(rootOf(audited.frontier)).toEqual(root);
      }),
    );
  });

  it('names a receipt that was rewritten or is missing, and nothing else', () => {
    fc.assert(
      fc.property(place, fc.boolean(), ([size, ends, index], missing) => {
        const { leaves, nodes } = storedLog(size);
        const rewritten = missing ? null : leafHash('rewritten');
        const tampered = leaves.map((leaf, at) => (at === index ? rewritten : leaf));
        const stored = nodes.get(`0/${index}`)?.toString('hex');
        const computed = rewritten?.toString('hex') ?? null;
        expect(audit({ leaves: tampered, nodes }, ends).damage).toEqual([{ level: 0, index, computed, stored }]);
      }),
    );
  });

  it('names a stored node that was rewritten or is missing, whichever it is, the same in pages of any length', () => {
    fc.assert(
      fc.property(place, fc.nat(), fc.boolean(), ([size, ends], pick, missing) => {
        const { leaves, nodes } = storedLog(size);
        const name = [...nodes.keys()][pick % nodes.size] ?? '';
        if (missing) nodes.delete(name);
        else nodes.set(name, leafHash('rewritten'));
        const { damage } = audit({ leaves, nodes }, ends);
        expect(damage.map(nameOf)).toContain(name);
        // In addition to the damage itself, at most its parent is reported, which no longer matches its children.
        expect(damage.length).toBeLessThanOrEqual(2);
        expect(audit({ leaves, nodes }, []).damage).toEqual(damage);
      }),
    );
  });

  it('reads exactly the nodes that a range completes', () => {
    fc.assert(
      fc.property(place, ([size, , from]) => {
        const { leaves, nodes } = storedLog(size);
        const before = leaves.slice(0, from).reduce<Frontier>((f, leaf, at) => appendLeaf(f, at, leaf).frontier, []);
        const read: string[] = [];
        auditLeaves(before, from, leaves.slice(from), node => {
          read.push(nameOf(node));
          return nodes.get(nameOf(node)) ?? null;
        });
        const completed = nodesCompleted(from, size).flatMap(range =>
          Array.from({ length: range.to - range.from }, (_, at) => `${range.level}/${range.from + at}`),
        );
        expect(read.sort()).toEqual(completed.sort());
      }),
    );
  });
});
