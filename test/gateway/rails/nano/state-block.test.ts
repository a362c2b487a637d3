import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  hashOfBlock,
  isGenuine,
  isSignedOnNano,
  isTextSignedOnNano,
  keyOfNanoAddress,
  nanoAddressOf,
  SEND_WORK_MIN,
  type StateBlock,
  workOf,
} from '../../../../gateway/rails/nano/state-block.ts';
import { newNanoWallet } from '../../../harness/nano/blocks.ts';

/** docs.nano.org, "RPC protocol": the answers of block_info and of process. */
const documented: readonly (StateBlock & { readonly hash: string })[] = [
  {
    hash: '87434F8041869A01C8F6F263B87972D7BA443A72E0A97D7A3FD0CCC2358FD6F9',
    account: 'nano_1ipx847tk8o46pwxt5qjdbncjqcbwcc1rrmqnkztrfjy5k7z4imsrata9est',
    previous: 'CE898C131AAEE25E05362F247760F8A3ACF34A9796A5AE0D9204E86B0637965E',
    representative: 'nano_1stofnrxuz3cai7ze75o174bpm7scwj9jn3nxsn8ntzg784jf1gzn1jjdkou',
    balance: 5606157000000000000000000000000000000n,
    link: '5D1AA8A45F8736519D707FCB375976A7F9AF795091021D7E9C7548D6F45DD8D5',
    signature:
      '82D41BC16F313E4B2243D14DFFA2FB04679C540C2095FEE7EAE0F2F26880AD56DD48D87A7CC5DD760C5B2D76EE2C205506AA557BF00B60D8DEE312EC7343A501',
    work: '8a142e07a10996d5',
  },
  {
    hash: 'E2FB233EF4554077A7BF1AA85851D5BF0B36965D2B0FB504B2BC778AB89917D3',
    account: 'nano_1qato4k7z3spc8gq1zyd8xeqfbzsoxwo36a45ozbrxcatut7up8ohyardu1z',
    previous: '6CDDA48608C7843A0AC1122BDD46D9E20E21190986B19EAC23E7F33F2E6A6766',
    representative: 'nano_3pczxuorp48td8645bs3m6c3xotxd3idskrenmi65rbrga5zmkemzhwkaznh',
    balance: 40200000001000000000000000000000000n,
    link: '87434F8041869A01C8F6F263B87972D7BA443A72E0A97D7A3FD0CCC2358FD6F9',
    signature:
      'A5DB164F6B81648F914E49CAB533900C389FAAD64FBB24F6902F9261312B29F730D07E9BCCD21D918301419B4E05B181637CF8419ED4DCBF8EF2539EB2467F07',
    work: '000bc55b014e807d',
  },
];

const bytes = (hex: string) => Buffer.from(hex, 'hex');

describe('a block of the protocol’s documentation', () => {
  it.each(documented)('$hash is what its members hash to, and is signed by its account', ({ hash, ...block }) => {
    expect(hashOfBlock(block)).toBe(hash);
    expect(isGenuine(block, hash)).toBe(true);
    // Both are of before the second epoch, whose threshold is eight times as high.
    expect(workOf(block)).toBeGreaterThanOrEqual(0xffffffc000000000n);
    expect(workOf(block)).toBeLessThan(SEND_WORK_MIN);
  });

  it('is another block with any member changed', () => {
    const [{ hash, ...block }] = documented as [(typeof documented)[0]];
    const other = documented[1] as StateBlock;
    const changes: readonly Partial<StateBlock>[] = [
      { account: other.account },
      { previous: other.previous },
      { representative: other.representative },
      { balance: block.balance + 1n },
      { link: other.link },
    ];
    for (const change of changes) {
      expect(hashOfBlock({ ...block, ...change })).not.toBe(hash);
      expect(isGenuine({ ...block, ...change }, hash)).toBe(false);
    }
    expect(isGenuine({ ...block, signature: other.signature }, hash)).toBe(false);
    expect(isGenuine({ ...block, signature: 'FF'.repeat(64) }, hash)).toBe(false);
    expect(workOf({ ...block, previous: other.previous })).toBeLessThan(0xffffffc000000000n);
    expect(hashOfBlock({ ...block, balance: 1n << 128n })).toBeNull();
  });
});

describe('a text', () => {
  /** Made by nanocurrency-web 1.4.3: `tools.sign(privateKey, text)`. */
  const address = 'nano_1pu7p5n3ghq1i1p4rhmek41f5add1uh34xpb94nkbxe8g4a6x1p69emk8y1d';
  const text = 'svc.ingest|7|nano:87434F8041869A01C8F6F263B87972D7BA443A72E0A97D7A3FD0CCC2358FD6F9|1790000000';
  const signature =
    '9fbf3e66ca94446bfec0271b1710b5dc00dc4441e75ef9411d9eb484f506ba3bc2b7c7f8b1e427496778c19252632de2952df560d2b0cad2d29e3bb9fdbad70f';

  it('is signed as nanocurrency-web signs it', () => {
    const key = keyOfNanoAddress(address) as Buffer;
    expect(isTextSignedOnNano(key, text, signature)).toBe(true);
    expect(isTextSignedOnNano(key, text, signature.toUpperCase())).toBe(true);
    expect(isTextSignedOnNano(key, `${text}0`, signature)).toBe(false);
    expect(isTextSignedOnNano(newNanoWallet().key, text, signature)).toBe(false);
    for (const none of ['', '0x', signature.slice(2), `${signature}00`, 'zz'.repeat(64)])
      expect(isTextSignedOnNano(key, text, none)).toBe(false);
    const seed = bytes('3be4fc2ef3f3b7374e6fc4fb6e7bb153f8a2998b3b3dab50853eabe128024143');
    expect(newNanoWallet(seed)).toMatchObject({ address });
    expect(newNanoWallet(seed).signText(text).toLowerCase()).toBe(signature);
  });

  it('is no block: neither signature does for the other', () => {
    const [{ hash, account, signature: of_block }] = documented as [(typeof documented)[0]];
    expect(isTextSignedOnNano(keyOfNanoAddress(account) as Buffer, hash, of_block)).toBe(false);
    expect(isSignedOnNano(keyOfNanoAddress(address) as Buffer, Buffer.from(text), signature)).toBe(false);
  });
});

describe('an address', () => {
  it('is its key’s, and no other spelling of it is one', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), key => {
        const address = nanoAddressOf(key);
        expect(address).toMatch(/^nano_[13][13-9a-km-uw-z]{59}$/);
        expect(keyOfNanoAddress(address)).toEqual(Buffer.from(key));
        expect(keyOfNanoAddress(address.replace('nano_', 'xrb_'))).toEqual(Buffer.from(key));
      }),
    );
  });

  it.each([
    '',
    'nano_1ipx847tk8o46pwxt5qjdbncjqcbwcc1rrmqnkztrfjy5k7z4imsrata9esu',
    'nano_2ipx847tk8o46pwxt5qjdbncjqcbwcc1rrmqnkztrfjy5k7z4imsrata9est',
    'ban_1ipx847tk8o46pwxt5qjdbncjqcbwcc1rrmqnkztrfjy5k7z4imsrata9est',
    'nano_1ipx847tk8o46pwxt5qjdbncjqcbwcc1rrmqnkztrfjy5k7z4imsrata9est ',
  ])('%j is none', address => {
    expect(keyOfNanoAddress(address)).toBeNull();
  });
});
