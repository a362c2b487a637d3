import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KnownLog } from '../../../../subgraphs/receipt/log/known-log.ts';
import { compareHeads } from '../../../../subgraphs/receipt/log/prove-intact.ts';
import type { HeadName } from '../../../../subgraphs/receipt/log/tree-head.ts';

const root = (size: number, log = 'a') => `${log}${size}`.padStart(64, '0');
const head = (tree_size: number, log?: string): HeadName => ({ tree_size, root_hash: root(tree_size, log) });
const link = (from: number, to: number, log?: string) => ({ from: head(from), to: head(to, log) });

const sizes = fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 8 });

describe('the judgement of what was found', () => {
  it('asks for a proof of each smaller head, and of no other', () => {
    fc.assert(
      fc.property(sizes, fc.nat(20), (known, more) => {
        const found = head(Math.max(...known) + more);
        const older = known.filter(size => size < found.tree_size).map(size => head(size));
        const heads = known.map(size => head(size));
        expect(compareHeads(heads, found)).toEqual(
          older.length === 0 ? { kind: 'known' } : { kind: 'unproven', older },
        );
      }),
    );
  });

  it('contradicts whatever is smaller than one that is known', () => {
    fc.assert(
      fc.property(sizes, fc.nat(), (known, pick) => {
        const found = head(pick % Math.max(...known));
        const judgement = compareHeads(
          known.map(size => head(size)),
          found,
        );
        expect(judgement.kind).toBe('contradicted');
      }),
    );
  });

  it('contradicts another root of a size that is known', () => {
    fc.assert(
      fc.property(sizes, fc.nat(), (known, pick) => {
        const same = known[pick % known.length] ?? 0;
        const judgement = compareHeads(
          known.map(size => head(size)),
          head(same, 'b'),
        );
        expect(judgement.kind).toBe('contradicted');
      }),
    );
  });
});

/** A log that grows by commits of these widths, and the links that its notifications contain. */
const commits = fc
  .uniqueArray(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 30 })
  .map(ends => ends.sort((one, other) => one - other).map((end, index) => link(ends[index - 1] ?? 0, end)));

describe('what a process knows of the log', () => {
  it('is stopped by no commit of one log, however late each is told and whichever of them were its own', () => {
    fc.assert(
      fc.property(commits, fc.infiniteStream(fc.nat(3)), (links, dice) => {
        const known = new KnownLog();
        known.addProven(head(0), []);
        const late: typeof links = [];
        for (const each of links) {
          const [thrown = 0] = dice.take(1);
          if (thrown === 0) known.addCommit(each.to);
          if (thrown === 1) late.push(each);
          else known.learnLink(each);
          if (thrown === 3) while (late[0]) known.learnLink(late.shift() as (typeof links)[0]);
        }
        for (const each of late) known.learnLink(each);
        expect(known.mismatch).toBeNull();
        expect(known.heads().at(-1)).toEqual(links.at(-1)?.to);
      }),
    );
  });

  it('asks for nothing but the newest of what was told one behind the other, and of what was proven', () => {
    fc.assert(
      fc.property(commits, links => {
        const known = new KnownLog();
        known.addProven(head(0), []);
        for (const each of links) known.learnLink(each);
        expect(known.heads()).toEqual([head(0), links.at(-1)?.to]);
        known.addProven(known.heads().at(-1) as HeadName, known.heads());
        expect(known.heads()).toEqual([links.at(-1)?.to]);
      }),
    );
  });

  it('is stopped by whoever goes on from before a head that it knows, be it of other sizes', () => {
    fc.assert(
      fc.property(commits, fc.nat(), fc.integer({ min: 1, max: 9 }), (links, pick, more) => {
        const known = new KnownLog();
        known.addProven(head(0), []);
        for (const each of links) known.learnLink(each);
        const newest = links.at(-1) as (typeof links)[0];
        const left = links[pick % links.length] as (typeof links)[0];
        const fork = link(left.from.tree_size, newest.to.tree_size + more, 'b');
        known.learnLink(fork);
        expect(known.mismatch).toEqual({ known: newest.to, found: fork.to });
      }),
    );
  });

  it('is stopped by another head of a size that it knows, wherever that is told', () => {
    for (const tell of ['told', 'learn', 'committed'] as const) {
      const known = new KnownLog();
      known.addProven(head(7), []);
      if (tell === 'told') known.learnLink(link(5, 7, 'b'));
      else if (tell === 'learn') known.learn(head(7, 'b'));
      else expect(() => known.addCommit(head(7, 'b'))).toThrow();
      expect(known.mismatch).toEqual({ known: head(7), found: head(7, 'b') });
    }
  });

  it('wants a look where it cannot place what it is told', () => {
    let puzzled = 0;
    const known = new KnownLog();
    known.onUncertain = () => puzzled++;
    known.addProven(head(7), []);
    known.learnLink(link(3, 4));
    expect([puzzled, known.heads()]).toEqual([1, [head(7)]]);
    known.learnLink(link(9, 12));
    expect([puzzled, known.heads()]).toEqual([2, [head(7), head(12)]]);
    known.learnLink(link(12, 13));
    expect([puzzled, known.heads()]).toEqual([2, [head(7), head(13)]]);
  });

  it('takes in what others have saved outside, whenever it is asked whether all is well', () => {
    const saved = [head(9)];
    const known = new KnownLog(() => saved);
    known.addProven(head(7), []);
    known.requireSound();
    expect(known.heads()).toEqual([head(7), head(9)]);
    saved[0] = head(7, 'b');
    expect(() => known.requireSound()).toThrow('The service cannot take this request now.');
  });

  it('stays stopped, with the first two heads that did not fit', () => {
    const known = new KnownLog();
    let heard = 0;
    known.onHalt = () => heard++;
    known.stop({ known: head(7), found: head(5) });
    known.stop({ known: head(9), found: head(8) });
    known.addProven(head(10), []);
    expect([heard, known.mismatch]).toEqual([1, { known: head(7), found: head(5) }]);
    expect(() => known.requireSound()).toThrow();
  });
});
