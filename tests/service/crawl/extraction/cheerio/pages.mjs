// Pages as sites write them: optional end tags, entities, scripts, white space, broken markup.

export const shop = `<!doctype html>
<html lang=en-GB>
<head>
  <meta charset=utf-8>
  <title>Brass desk lamp&nbsp;&ndash; Lamp&amp;Co</title>
  <link rel="canonical" href="https://shop.test/lamps/brass-desk?utm_source=x">
  <meta name="description" content='A "small" lamp &lt;for&gt; reading'>
  <meta property="og:image" content="//cdn.shop.test/i/brass.jpg">
  <meta property="product:price:amount" content="129.00">
  <script type="application/ld+json">
  {"@context": "https://schema.org", "@type": "Product", "sku": "LMP-001",
   "name": "Brass desk lamp", "offers": {"@type": "Offer", "price": "129.00",
   "priceCurrency": "GBP", "availability": "https://schema.org/InStock"},
   "aggregateRating": {"ratingValue": 4.6, "reviewCount": 87}}
  </script>
  <script type="application/ld+json">{"@type": "BreadcrumbList", "itemListElement": [
    {"position": 1, "name": "Home"}, {"position": 2, "name": "Lamps"}]}</script>
</head>
<body class="product-page  in-stock" data-product-id="001" data-flags='{"new":true,"rank":3}'>
<nav aria-label=Breadcrumb><ol class=crumbs>
  <li><a href="/">Home</a><li><a href="/lamps">Lamps</a><li aria-current=page>Brass desk lamp
</ol></nav>
<main id="product">
  <h1>Brass <em>desk</em> lamp</h1>
  <p class="price"><del>&pound;149.00</del> <ins>£129<sup>.00</sup></ins></p>
  <div class="gallery">
    <img src="/i/brass-1.jpg" alt="Front" data-zoom="/z/1.jpg" width=640>
    <img src="/i/brass-2.jpg" alt="" loading=lazy>
    <img data-src="/i/brass-3.jpg" alt='Side "view"'>
  </div>
  <form action="/cart" method=post>
    <select name="size"><option value="s">Small<option value="l" selected>Large
      <option value="xl" disabled>Extra large</select>
    <input type=number name=quantity value=1 min=1 max=9 required>
    <label><input type=radio name=finish value=brass checked> Brass</label>
    <label><input type=radio name=finish value=steel> Steel</label>
    <input type=checkbox name=gift> <textarea name=note>
No note</textarea>
    <button type=submit class="button buy">Add to basket</button>
  </form>
  <table class="facts"><caption>Facts</caption>
    <tr><th scope=row>Height<td>42&nbsp;cm
    <tr><th scope=row>Weight<td>1.2 kg <small>(without bulb)</small>
    <tr><th scope=row>Colours<td>Brass, Steel
  </table>
  <section class="reviews" data-count="3">
    <article class="review" data-stars=5><h3>Lovely</h3><p>Warm light.</p><p>Solid.</p>
      <footer>by <b>Ann</b>, <time datetime="2024-03-01">1 March</time></footer></article>
    <article class="review helpful" data-stars=3><h3>OK</h3><p>Cable is short &amp; stiff.</p>
      <footer>by <b>Bo</b>, <time datetime="2024-02-11">11 Feb</time></footer></article>
    <article class="review" data-stars=4><h3></h3>
      <footer>by <b>Cy</b>, <time>yesterday</time></footer></article>
  </section>
  <!-- price updated 2024-03-02 -->
</main>
<aside><h2>Also bought</h2><ul class="related">
  <li data-sku=LMP-002><a href="/lamps/floor">Floor lamp</a> <span>£89</span>
  <li data-sku=BLB-010 class=sold-out><a href="/bulbs/e14?pack=2&amp;tone=warm">Bulb E14</a> <span>£6.50</span>
  <li data-sku=LMP-003><a href="lamps/wall">Wall lamp</a>
</ul></aside>
<noscript><img src="/pixel.gif"></noscript>
</body></html>`;

export const manual = `<!doctype html><html><head><title>Install · Manual</title>
<meta name=robots content="index,follow"><link rel=next href="/docs/configure"></head>
<body>
<a class="skip" href="#content">Skip to content</a>
<div class="sidebar"><ul>
  <li class="open"><a href="/docs">Docs</a><ul><li class=here><a href="/docs/install">Install</a></li>
    <li><a href="/docs/configure">Configure</a><ul><li><a href="/docs/configure/keys">Keys</a></li></ul></li></ul></li>
  <li><a href="https://github.test/repo" rel="noopener external">Source</a></li></ul></div>
<div class="content" id="content">
<h1 id="install">Install<a class="anchor" href="#install">¶</a></h1>
<p>Needs <code>python</code> 3.11&#8203;+. See <a href="../faq#errors">FAQ</a>.
<h2 id="linux">Linux<a class="anchor" href="#linux">¶</a></h2>
<p>Run:</p><pre><code class="language-sh hl">$ pip install <b>svc</b>
# done</code></pre>
<div class="note warning"><p class="title">Warning</p><p>Not as root.</p></div>
<h3 id="debian">Debian</h3><p>Use <kbd>apt</kbd>.<ul><li>stable<li>testing<ul><li>nightly</ul></ul>
<h2 id="mac">Mac&#8209;OS<a class="anchor" href="#mac">¶</a></h2>
<p>Nothing   special.<br>Really.
<dl><dt>Path<dd>where it is<dt>Prefix<dt>Root<dd>where it<br>begins<dd>or ends</dl>
<h2 id="windows">Windows</h2><p></p><p>Use the <a href="/download.exe" download>installer</a>.</p>
<table><thead><tr><th>Option<th>Default</tr></thead><tbody>
<tr><td><code>--port</code><td>8080<tr><td><code>--host</code><td>localhost<tr><td colspan=2>no others</tbody></table>
</div>
<footer><p>Last change: <time datetime=2024-05-06T07:08:09Z>6 May</time> · <a href="mailto:docs@x.test">Mail</a></p></footer>
</body></html>`;

export const blog = `<html><head><title>On lamps | Blog</title></head><body>
<div id=page><header role=banner><h1><a href=/>Blog</a></h1></header>
<article class="post tag-light tag-home" id=post-42>
<header><h2 class=entry-title>On lamps</h2><span class=meta>By <a rel=author href=/by/ann>Ann Ålund</a>
 on <time pubdate datetime="2023-11-05">Nov 5, 2023</time> in <a rel="category tag" href=/c/home>Home</a>,
 <a rel="category tag" href=/c/light>Light</a></span></header>
<div class=entry-content><p>First&hellip; a <b>bold</b> claim: “light is <i>everything</i>”.</p>
<p>日本語のテキスト 🪔 naïve café</p>
<blockquote cite="/src"><p>Quoted.<p>Twice.</blockquote>
<figure><img src=a.png srcset="a.png 1x, a@2x.png 2x" alt="A lamp"><figcaption>Fig. 1</figcaption></figure>
<script>document.write("<p>written</p>")</script><style>.x{color:red}</style>
<p style="color: red; margin-top: 1em">Styled<br/>break</p>
<hr><p class="more">Read <a href="/next" title="Next post">next</a> or <a name=here>stay</a>.</p></div>
<ol class=comments><li id=c1><b>Bo</b>: Nice.<ol class=replies><li id=c2><b>Ann</b>: Thanks!</ol>
<li id=c3 class=spam><b>Eve</b>: Buy.</ol>
</article>
<svg viewBox="0 0 9 9"><title>Icon</title><path d="M0 0"/></svg>
<template><p>Hidden</p></template>
<div class=empty></div><div class="empty">   </div>
</div></body></html>`;

export const listing = `<div class=results data-total=1234 data-page=2>
<ul id=hits>
<li class="hit odd" data-id=1 data-price=9.99><a href=/p/1><h3>One</h3></a><span class=tag>new</span><span class=tag>sale</span></li>
<li class="hit even" data-id=2 data-price=19><a href=/p/2><h3>Two</h3></a></li>
<li class="hit odd ad" data-id=3><a href=https://ads.test/3><h3>Three</h3></a><span class=tag>ad</span></li>
<li class="hit even" data-id=4 data-price=4.5><a href=/p/4#top><h3>Four</h3></a><span class=tag>sale</span></li>
<li class=divider role=separator></li>
<li class="hit odd" data-id=5 data-price=100><a><h3>Five <small>(5)</small></h3></a></li>
</ul>
<div class=pages><a href="?page=1" rel=prev>‹</a> <a href="?page=1">1</a> <b>2</b> <a href="?page=3" rel=next>3</a></div>
<p>Showing <span>6</span>&ndash;<span>10</span> of <strong>1,234</strong></p>
</div>`;

export const broken = `<title>Broken</title><body><p>one<p>two<div>three<span>four</div>five</span>
<b>bold<i>both</b>italic</i>
<table><tr><td>cell<p>in cell</table>after
<ul><li>a<li>b</ul></ul></p>
<a href="/x" href="/y" HREF="/z" Title=Big>link<a href=/w>second</a>
<select><option>p<option>q</select><br></br>
&lt;tag&gt; &copy 2024 &notanentity; &#x1F4A1; &amp;amp;
<img src=i.png alt><input disabled value>
<h2>Head <!-- comment --> line</h2><![CDATA[x]]><? pi ?>
<custom-tag data-a-b="1"><slot-x></slot-x></custom-tag><p`;

export const vacancies = `<body><h1>Jobs</h1>
<section id=berlin data-country=DE><h2>Berlin</h2>
 <div class=job><h3>Cook</h3><p class=pay>€ 2.400 – 2.800</p><p>Full time</p><a class=apply href=/apply/1>Apply</a></div>
 <div class="job closed"><h3>Waiter</h3><p class=pay>€ 13,50 / h</p><p>Part time</p></div></section>
<section id=oslo data-country=NO><h2>Oslo</h2>
 <div class=job><h3>Baker</h3><p>Full time</p><a class=apply href=/apply/3>Apply</a></div></section>
<section id=rome data-country=IT><h2>Rome</h2><p class=none>No jobs.</p></section>
<h2 class=more>More</h2><p>Intro 1<p>Intro 2<h2>Contact</h2><p>Mail us<address>Lamp&Co<br>1 High St<br>London</address>
</body>`;
